// SPDX-License-Identifier: Apache-2.0
// Random sequences of operations, with ranks that are late at random.
#include <cstdlib>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "platform/cycles.h"
#include "ranks.h"
#include "sequence.h"

namespace {

using test::Call;
using test::Place;

// WEFT_TEST_COLL_CALLS: more of them, for a long run.
int calls(int ranks) {
  const char* text = std::getenv("WEFT_TEST_COLL_CALLS");
  if (text != nullptr) return std::atoi(text);
  // Many ranks on few CPUs take long for each call, and longer with ThreadSanitizer.
  return ranks > 8 ? 60 : 400;
}

// A rank of its own seed is late now and then.
class Delays {
 public:
  Delays(uint64_t seed, int rank) : random_(seed * 1000 + static_cast<uint64_t>(rank)) {}
  void once() {
    switch (random_() % 40) {
      case 0: usleep(static_cast<useconds_t>(random_() % 3000)); break;
      case 1:
      case 2: sched_yield(); break;
      case 3:
        for (int i = 0; i < 2000; ++i) weft::platform::pause();
        break;
      default: break;
    }
  }

 private:
  std::mt19937_64 random_;
};

bool run_sequence(weft::coll::Group& group, int rank, int ranks, uint64_t seed, size_t most_bytes) {
  std::mt19937_64 random(seed);
  Delays delays(seed, rank);
  for (int i = 0; i < calls(ranks); ++i) {
    const Call call = test::random_call(random, ranks, most_bytes);
    delays.once();
    if (test::perform(group, rank, ranks, call)) continue;
    std::fprintf(stderr, "call %d of seed %llu, rank %d of %d: %s of %zu bytes, root %d%s\n", i,
                 static_cast<unsigned long long>(seed), rank, ranks, test::name_of(call.operation), call.bytes,
                 call.root, call.in_place ? ", in place" : "");
    return false;
  }
  return true;
}

uint64_t new_seed() {
  const char* text = std::getenv("WEFT_TEST_COLL_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device()();
}

class Stress : public testing::TestWithParam<int> {};

TEST_P(Stress, ProcessesInARandomSequence) {
  const int ranks = GetParam();
  const uint64_t seed = new_seed();
  // Queues of two small buffers are used up at once.
  const weft::coll::Settings kinds[] = {
      {}, {.queue_bytes = 8192, .fragment_bytes = 4096}, {.single_copy = false}, {.trees_from = 2}};
  for (const weft::coll::Settings& settings : kinds) {
    const auto statuses = test::run_processes(ranks, [&](Place& place) {
      const char* why = nullptr;
      weft::coll::Group* group = weft::coll::create(place.bootstrap(), settings, &why);
      if (group == nullptr) return 2;
      const bool good = run_sequence(*group, place.rank, ranks, seed, 1 << 20);
      weft::coll::destroy(group);
      return good ? 0 : 1;
    });
    EXPECT_EQ(statuses, std::vector<int>(static_cast<size_t>(ranks), 0)) << "seed " << seed;
  }
}

TEST_P(Stress, ThreadsInARandomSequence) {
  const int ranks = GetParam();
  const uint64_t seed = new_seed();
  weft::coll::Settings settings{.queue_bytes = 32768, .fragment_bytes = 4096};
  for (const bool single_copy : {true, false}) {
    settings.single_copy = single_copy;
    for (const int trees_from : {0, 2}) {
      settings.trees_from = trees_from;
      std::atomic<int> wrong{0};
      test::run_threads(ranks, settings, [&](weft::coll::Group& group, int rank) {
        if (!run_sequence(group, rank, ranks, seed, 1 << 17)) ++wrong;
      });
      EXPECT_EQ(wrong, 0) << "seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Stress, testing::Values(2, 3, 4, 5, 8, 10));

}  // namespace
