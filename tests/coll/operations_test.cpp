// SPDX-License-Identifier: Apache-2.0
// Each operation, by sizes at which the way changes; groups that are made, left and refused; ranks that die.
#include <array>
#include <cstring>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ranks.h"
#include "sequence.h"

namespace {

using test::Call;
using test::Place;
using weft::coll::Operation;

constexpr int kDied = 42;

weft::coll::Group* make(Place& place, const weft::coll::Settings& settings = {}) {
  const char* why = nullptr;
  weft::coll::Group* group = weft::coll::create(place.bootstrap(), settings, &why);
  if (group == nullptr) std::fprintf(stderr, "no group: %s\n", why);
  return group;
}

bool all_good(const std::vector<int>& statuses) {
  for (const int status : statuses) {
    if (status != 0) return false;
  }
  return true;
}

class Operations : public testing::TestWithParam<int> {};

TEST_P(Operations, MoveTheRightDataByEachWay) {
  const int ranks = GetParam();
  const weft::coll::Settings kinds[] = {{}, {.single_copy = false}, {.trees_from = 2}};
  for (const weft::coll::Settings& settings : kinds) {
    const auto statuses = test::run_processes(ranks, [&](Place& place) {
      weft::coll::Group* group = make(place, settings);
      if (group == nullptr) return 2;
      uint64_t salt = 1;
      for (int operation = 0; operation < weft::coll::kOperations; ++operation) {
        for (const size_t bytes : {0, 1, 7, 8, 24, 56, 57, 64, 200, 1000, 4096, 5000, 20000, 70000, 300000}) {
          for (const bool in_place : {false, true}) {
            for (const int root : {0, ranks - 1}) {
              const Call call{static_cast<Operation>(operation), bytes, root, in_place, ++salt};
              if (test::perform(*group, place.rank, ranks, call)) continue;
              std::fprintf(stderr, "%s of %zu bytes, root %d%s\n", test::name_of(call.operation), bytes, root,
                           in_place ? ", in place" : "");
              return 1;
            }
          }
        }
      }
      weft::coll::destroy(group);
      return 0;
    });
    EXPECT_TRUE(all_good(statuses)) << (settings.single_copy ? "with" : "without") << " single copy, trees from "
                                    << settings.trees_from;
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, Operations, testing::Values(2, 3, 4, 5, 8, 17));

// Elements larger than a buffer of the queue.
struct Huge {
  std::array<uint64_t, 4000> words;
};

void add_huge(void*, const void* in, void* inout, size_t count) {
  const auto* from = static_cast<const Huge*>(in);
  auto* to = static_cast<Huge*>(inout);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < from->words.size(); ++j) to[i].words[j] += from[i].words[j];
  }
}

TEST(Operations, ReduceElementsThatFitNoBuffer) {
  const auto statuses = test::run_processes(3, [](Place& place) {
    weft::coll::Group* group = make(place, {.queue_bytes = 16384, .fragment_bytes = 4096});
    if (group == nullptr) return 2;
    std::vector<Huge> in(2), out(2);
    for (Huge& huge : in) huge.words.fill(static_cast<uint64_t>(place.rank) + 1);
    const weft::coll::Reduction reduction{add_huge, nullptr, sizeof(Huge)};
    weft::coll::allreduce(*group, in.data(), out.data(), 2, reduction);
    if (out[1].words[3999] != 6) return 1;
    weft::coll::reduce(*group, in.data(), out.data(), 1, reduction, 2);
    return out[0].words[0] == 6 ? 0 : 1;
  });
  EXPECT_TRUE(all_good(statuses));
}

TEST(Groups, AreMadeAndLeftManyTimes) {
  const auto statuses = test::run_processes(3, [](Place& place) {
    for (int i = 0; i < 200; ++i) {
      weft::coll::Group* group = make(place);
      if (group == nullptr) return 2;
      int value = place.rank == 1 ? i : -1;
      weft::coll::bcast(*group, &value, sizeof value, 1);
      if (value != i) return 1;
      weft::coll::destroy(group);
    }
    return 0;
  });
  EXPECT_TRUE(all_good(statuses));
}

TEST(Groups, LeaveNoFileOpen) {
  const auto statuses = test::run_processes(2, [](Place& place) {
    const int before = dup(0);
    close(before);
    weft::coll::Group* group = make(place);
    weft::coll::barrier(*group);
    const int after = dup(0);
    return before == after ? 0 : 1;
  });
  EXPECT_TRUE(all_good(statuses));
}

TEST(Groups, TellWhatTheyHave) {
  const auto statuses = test::run_processes(2, [](Place& place) {
    weft::coll::Group* group = make(place, {.queue_bytes = 64 << 10, .fragment_bytes = 5000});
    const weft::coll::Facts facts = weft::coll::facts(*group);
    return facts.fragment_bytes == 8192 && facts.fragments == 8 && facts.queue_bytes == 64 << 10 && facts.cpus > 0 ? 0
                                                                                                                   : 1;
  });
  EXPECT_TRUE(all_good(statuses));
}

void allow_open_files(bool allowed) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = allowed ? limit.rlim_max : 0;
  setrlimit(RLIMIT_NOFILE, &limit);
}

TEST(Groups, FindTheirMemoryByANameToo) {
  const auto statuses = test::run_processes(3, [](Place& place) {
    // Rank 1 cannot open the file without a name.
    if (place.rank == 1) {
      place.after_round = [](int number) { allow_open_files(number != 1); };
    }
    weft::coll::Group* group = make(place);
    if (group == nullptr || place.rounds != (place.rank == 1 ? 4 : 0)) return 2;
    return test::perform(*group, place.rank, 3, {Operation::allreduce, 5000, 0, false, 1}) ? 0 : 1;
  });
  EXPECT_TRUE(all_good(statuses));
}

TEST(Groups, AreRefusedToAllWhereARankOpensNoFile) {
  const auto statuses = test::run_processes(3, [](Place& place) {
    if (place.rank == 1) {
      place.after_round = [](int) { allow_open_files(false); };
    }
    const char* why = nullptr;
    return weft::coll::create(place.bootstrap(), {}, &why) == nullptr && std::strlen(why) > 0 ? 0 : 1;
  });
  EXPECT_TRUE(all_good(statuses));
}

// ThreadSanitizer needs room itself.
#if !defined(__SANITIZE_THREAD__)
TEST(Groups, AreRefusedToAllWhereARankHasNoRoom) {
  const auto statuses = test::run_processes(3, [](Place& place) {
    if (place.rank == 1) {
      const rlimit none{0, 0};
      setrlimit(RLIMIT_AS, &none);
    }
    const char* why = nullptr;
    return weft::coll::create(place.bootstrap(), {}, &why) == nullptr && std::strlen(why) > 0 ? 0 : 1;
  });
  EXPECT_TRUE(all_good(statuses));
}
#endif

TEST(Groups, AreRefusedWhereTheRanksCannotTalk) {
  const auto statuses = test::run_processes(2, [](Place& place) {
    place.meeting->break_off();
    const char* why = nullptr;
    return weft::coll::create(place.bootstrap(), {}, &why) == nullptr && std::strlen(why) > 0 ? 0 : 1;
  });
  EXPECT_TRUE(all_good(statuses));
}

TEST(Waiting, CallsProgress) {
  static int calls;
  calls = 0;
  const auto statuses = test::run_processes(2, [](Place& place) {
    weft::coll::Group* group = make(place, {.progress = [] { ++calls; }});
    if (place.rank == 0) usleep(100'000);
    weft::coll::barrier(*group);
    return place.rank == 0 || calls >= 10 ? 0 : 1;
  });
  EXPECT_TRUE(all_good(statuses));
}

class Deaths : public testing::TestWithParam<size_t> {};

TEST_P(Deaths, AreToldToThoseWhoWait) {
  constexpr int kRanks = 4;
  const auto statuses = test::run_processes(kRanks, [](Place& place) {
    weft::coll::Group* group = make(place, {.died = [](int rank) { _exit(rank == 2 ? kDied : 1); }});
    std::vector<uint64_t> in(GetParam() / 8, 1), out(GetParam() / 8);
    const weft::coll::Reduction add{[](void*, const void* from, void* to, size_t count) {
                                      for (size_t i = 0; i < count; ++i) {
                                        static_cast<uint64_t*>(to)[i] += static_cast<const uint64_t*>(from)[i];
                                      }
                                    },
                                    nullptr, 8};
    for (int i = 0;; ++i) {
      if (place.rank == 2 && i == 50) kill(getpid(), SIGKILL);
      weft::coll::allreduce(*group, in.data(), out.data(), in.size(), add);
    }
    return 0;
  });
  EXPECT_EQ(statuses, (std::vector<int>{kDied, kDied, 128 + SIGKILL, kDied}));
}
INSTANTIATE_TEST_SUITE_P(Bytes, Deaths, testing::Values(8, 4096, 100'000));

}  // namespace
