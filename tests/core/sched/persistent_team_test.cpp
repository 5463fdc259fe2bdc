// SPDX-License-Identifier: Apache-2.0
// A persistent team: each member runs each post once, on a context of its own, however its sleep and the owner's meet
// the calls of the other.
#include "core/sched/persistent_team.h"

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../await.h"
#include "../keep.h"
#include "core/sched/blocking.h"
#include "core/sched/pool.h"
#include "core/sched/scheduler.h"
#include "core/sched/spinning.h"
#include "core/sched/start.h"

namespace {

using namespace weft::core;

constexpr int kMost = 8;
constexpr int kLarge = 3 * PostTree::kLeastMembers;

// What members have seen; plain fields pass between a member and the owner by the posts alone.
struct Seen {
  long posts = 0;
  void* word = nullptr;
  Context* context = nullptr;
  bool moved = false;  // it has run on two contexts
  std::atomic<int> nudges{0};
  std::atomic<long> early_nudges{0};  // that came before the post that was under way
};

struct Owner {
  std::atomic<long> rounds{0};  // begun by the member that nudges
  std::array<Seen, kLarge> seen;
  // A member that is told to waits in its call.
  std::atomic<int> waits{0};
  std::atomic<bool> goes_on{false};
};

void note(PersistentTeam* team, int index, const Post& post) {
  Seen& seen = static_cast<Owner*>(team->owner_data())->seen[static_cast<size_t>(index)];
  ++seen.posts;
  seen.word = post.words[0];
  seen.moved = seen.moved || (seen.context != nullptr && seen.context != current_context());
  seen.context = current_context();
}

void note_and_wait(PersistentTeam* team, int index, const Post& post) {
  note(team, index, post);
  auto* owner = static_cast<Owner*>(team->owner_data());
  ++owner->waits;
  while (!owner->goes_on.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void note_nudge(PersistentTeam* team, int index, const Post&) {
  auto* owner = static_cast<Owner*>(team->owner_data());
  Seen& seen = owner->seen[static_cast<size_t>(index)];
  ++seen.nudges;
  if (seen.posts < owner->rounds.load()) ++seen.early_nudges;
}

// One that is told first of all nudges one that is told by a member that is told last.
constexpr int kToldEarly = 64;
constexpr int kToldLate = 63;
void note_and_nudge_another(PersistentTeam* team, int index, const Post& post) {
  note(team, index, post);
  if (index != kToldEarly) return;
  ++static_cast<Owner*>(team->owner_data())->rounds;
  team->nudge(kToldLate);
}

class PersistentTeamTest : public testing::Test {
 protected:
  void SetUp() override {
    // Nobody spins: each wait is a sleep.
    start({.slots = 4, .stack_size = 256 * 1024, .spin_ns = 0});
    self_ = attach();
    enter_region(self_, kMost);
  }
  void TearDown() override {
    for (PersistentTeam* team : teams_) team->dismiss();
    PersistentTeam::always_by_tree = false;
    set_spin_ns(0);
    leave_region(self_);
  }

  struct Made {
    Owner* owner;
    PersistentTeam* team;
  };
  Made make(int members, PersistentCall call = note, const ParallelCall* parallel_call = nullptr) {
    Owner* owner = keep(new Owner);
    PersistentTeam* team = make_for(owner, call, parallel_call);
    EXPECT_EQ(team->reserve(members), members);
    return {owner, team};
  }
  PersistentTeam* make_for(Owner* owner, PersistentCall call = note, const ParallelCall* parallel_call = nullptr) {
    return teams_.emplace_back(keep(new PersistentTeam(call, note_nudge, owner, parallel_call)));
  }

  static void post(PersistentTeam* team, int count, void* word) { team->start(count, {{word}}); }

  static bool is_asleep(PersistentTeam* team, int index) {
    const PersistentMember& member = team->member(index);
    const uint32_t token = member.context.load()->token.load();
    return member.asleep.load() != 0 && (token == Token::suspended || token == Token::resting);
  }

 private:
  Context* self_ = nullptr;
  std::vector<PersistentTeam*> teams_;
};

TEST_F(PersistentTeamTest, OfOneNeedsNobody) {
  PersistentTeam* team = make(1).team;
  team->start(1, {});
  EXPECT_TRUE(team->finish());
  EXPECT_EQ(team->trim(), 0);
  team->dismiss();  // and once more at the end of the test
}

TEST_F(PersistentTeamTest, EachMemberRunsEachPostOnItsContext) {
  const auto [owner, team] = make(kMost);
  std::array<char, 50> words{};
  for (size_t round = 0; round < words.size(); ++round) {
    post(team, kMost, &words[round]);
    ASSERT_TRUE(team->finish());
    for (int i = 1; i < kMost; ++i) {
      const Seen& seen = owner->seen[static_cast<size_t>(i)];
      ASSERT_EQ(seen.posts, static_cast<long>(round) + 1);
      ASSERT_EQ(seen.word, &words[round]);
      ASSERT_FALSE(seen.moved);
      ASSERT_TRUE(team->has_finished(i));
    }
  }
  EXPECT_EQ(owner->seen[0].posts, 0) << "the owner's own call is its own";
}

// In a large team members tell members. With fewer slots than members, those who tell others come late.
TEST_F(PersistentTeamTest, EachMemberOfALargeTeamRunsEachPost) {
  PersistentTeam::always_by_tree = true;
  const auto [owner, team] = make(kLarge);
  std::array<char, 50> words{};
  for (size_t round = 0; round < words.size(); ++round) {
    // Of changing sizes, so that who tells others in one post does not in the next.
    const int count = round % 3 == 0 ? kLarge : round % 3 == 1 ? PostTree::kLeastMembers : PostTree::kLeastMembers + 9;
    std::array<long, kLarge> before{};
    for (size_t i = 1; i < kLarge; ++i) before[i] = owner->seen[i].posts;
    post(team, count, &words[round]);
    ASSERT_TRUE(team->finish());
    for (int i = 1; i < kLarge; ++i) {
      const Seen& seen = owner->seen[static_cast<size_t>(i)];
      ASSERT_EQ(seen.posts - before[static_cast<size_t>(i)], i < count ? 1 : 0) << i << " of " << count;
      if (i < count) {
        ASSERT_EQ(seen.word, &words[round]);
      }
    }
  }
}

// Those that sleep wake each other.
TEST_F(PersistentTeamTest, EachMemberRunsEachPostWhereSleepersWakeOthers) {
  PersistentTeam::always_by_tree = true;
  constexpr int kMembers = PostTree::kLeastMembers - 1;
  const auto [owner, team] = make(kMembers);
  std::array<char, 300> words{};
  for (size_t round = 0; round < words.size(); ++round) {
    const int count = kMembers - static_cast<int>(round % 3) * 4;
    std::array<long, kMembers> before{};
    for (size_t i = 1; i < kMembers; ++i) before[i] = owner->seen[i].posts;
    if (round % 10 == 0) {
      EXPECT_TRUE(await([&] { return team->trim() == 0; }));
    }
    post(team, count, &words[round]);
    ASSERT_TRUE(team->finish());
    for (int i = 1; i < kMembers; ++i) {
      ASSERT_EQ(owner->seen[static_cast<size_t>(i)].posts - before[static_cast<size_t>(i)], i < count ? 1 : 0);
    }
  }
}

// A member that is told late is not kept from it by what it is nudged for.
TEST_F(PersistentTeamTest, ANudgeWaitsForAPostThatIsUnderWay) {
  PersistentTeam::always_by_tree = true;
  const auto [owner, team] = make(kLarge, note_and_nudge_another);
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    post(team, kLarge, team);
    ASSERT_TRUE(team->finish());
  }
  const Seen& late = owner->seen[kToldLate];
  EXPECT_EQ(late.posts, kRounds);
  // A post may begin while a nudge of the last one is looked at; that is seldom.
  EXPECT_LT(late.early_nudges.load(), kRounds / 20);
}

// It grows and keeps its members; those that are not in a post sleep through it, and come again later.
TEST_F(PersistentTeamTest, MembersStayWhenItGrowsAndPostsShrink) {
  const auto [owner, team] = make(2);
  const PersistentMember* first = &team->member(1);
  ASSERT_EQ(team->reserve(kMost), kMost);
  EXPECT_EQ(&team->member(1), first);
  EXPECT_EQ(team->reserve(3), 3) << "it has more";
  constexpr std::array<int, 7> kCounts = {8, 3, 1, 2, 8, 5, 8};
  std::array<long, kMost> expected{};
  for (const int count : kCounts) {
    post(team, count, nullptr);
    ASSERT_TRUE(team->finish());
    for (int i = 1; i < kMost; ++i) {
      const auto at = static_cast<size_t>(i);
      expected[at] += i < count ? 1 : 0;
      ASSERT_EQ(owner->seen[at].posts, expected[at]);
      ASSERT_FALSE(owner->seen[at].moved);
    }
  }
}

TEST_F(PersistentTeamTest, DismissedItServesAgain) {
  const auto [owner, team] = make(2);
  long posts = 0;
  for (int round = 0; round < 50; ++round) {
    const int size = 2 + round % (kMost - 1);
    ASSERT_EQ(team->reserve(size), size);
    // One that has never been posted to ends as well.
    if (round % 3 != 0) {
      for (Seen& seen : owner->seen) seen.context = nullptr;
      post(team, size, owner);
      ASSERT_TRUE(team->finish());
      ++posts;
    }
    team->dismiss();
    EXPECT_EQ(owner->seen[1].posts, posts) << "the dismissal is no post";
  }
  // Nobody counts on the workers' identities any more.
  EXPECT_TRUE(await([] {
    for (int i = 0; i < pool().worker_count.load(); ++i) {
      if (pool().worker(i)->spoken_for.load()) return false;
    }
    return true;
  }));
}

TEST_F(PersistentTeamTest, StopEndsTheWaitBeforeTheMembersAreDone) {
  const auto [owner, team] = make(3, note_and_wait);
  std::atomic<bool> stop{false};
  post(team, 3, nullptr);
  std::thread stopper([&] {
    while (owner->waits.load() == 0) std::this_thread::yield();
    stop = true;
    team->call_owner();
  });
  EXPECT_FALSE(team->finish(stop));
  EXPECT_FALSE(team->has_finished(1) && team->has_finished(2));
  stopper.join();
  EXPECT_FALSE(team->finish(stop)) << "it is still set";
  owner->goes_on = true;
  EXPECT_TRUE(team->finish());
  EXPECT_TRUE(team->finish()) << "all are done";
  owner->goes_on = false;
  // Who is done counts before who is stopped.
  team->start(1, {});
  EXPECT_TRUE(team->finish(stop));
  owner->goes_on = true;
}

TEST_F(PersistentTeamTest, FinishByItsOwnWait) {
  const auto [owner, team] = make(kMost);
  for (int round = 1; round <= 200; ++round) {
    post(team, kMost, nullptr);
    team->finish_by([](auto& done) {
      while (!done()) block_unless(done);
    });
    for (int i = 1; i < kMost; ++i) ASSERT_EQ(owner->seen[static_cast<size_t>(i)].posts, round);
  }
}

TEST_F(PersistentTeamTest, NudgesReachWhoSleepsWhoIsBusyAndWhoHasNotBegun) {
  const auto [owner, team] = make(3, note_and_wait);
  // Not begun: its first post lets it begin, and the nudge is heard then.
  team->nudge(1);
  post(team, 3, nullptr);
  ASSERT_TRUE(await([&] { return owner->waits.load() == 2; }));
  // Busy.
  team->nudge(2);
  EXPECT_EQ(owner->seen[2].nudges.load(), 0);
  owner->goes_on = true;
  ASSERT_TRUE(team->finish());
  EXPECT_TRUE(await([&] { return owner->seen[1].nudges.load() == 1 && owner->seen[2].nudges.load() == 1; }));
  // Asleep.
  EXPECT_TRUE(await([&] { return is_asleep(team, 1); }));
  team->nudge(1);
  EXPECT_TRUE(await([&] { return owner->seen[1].nudges.load() == 2; }));
  EXPECT_EQ(owner->seen[2].nudges.load(), 1);
  EXPECT_EQ(owner->seen[1].posts, 1) << "a nudge is no post";
}

TEST_F(PersistentTeamTest, TrimTouchesWhoSleepsAndTheyServeOn) {
  const auto [owner, team] = make(kMost);
  EXPECT_EQ(team->trim(), 0) << "none has begun";
  for (int round = 1; round <= 400; ++round) {
    post(team, kMost, nullptr);
    ASSERT_TRUE(team->finish());
    // At once too: some are on their way to sleep.
    team->trim();
    if (round % 40 == 0) {
      EXPECT_TRUE(await([&] { return team->trim() == 0; }));
    }
    for (int i = 1; i < kMost; ++i) ASSERT_EQ(owner->seen[static_cast<size_t>(i)].posts, round);
  }
}

// ---- wakes that meet who falls asleep ----

// Some posts come at once, others when members have had time to fall asleep; and the same for the owner's wait.
void dawdle(int round) {
  constexpr int kShortest = 40;
  for (int i = 0; i < round % 7 * kShortest; ++i) weft::platform::pause();
  if (round % 11 == 0) std::this_thread::yield();
}

void note_and_dawdle(PersistentTeam* team, int index, const Post& post) {
  note(team, index, post);
  dawdle(index + static_cast<int>(reinterpret_cast<uintptr_t>(post.words[0])));
}

class PersistentTeamRaceTest : public PersistentTeamTest {
 protected:
  static constexpr int kRounds = 4000;

  // Each post reaches each member, and the owner sees each end.
  void post_many(const ParallelCall* parallel_call, int members = 4) {
    const auto [owner, team] = make(members, note_and_dawdle, parallel_call);
    for (int round = 1; round <= kRounds; ++round) {
      post(team, members, reinterpret_cast<void*>(static_cast<uintptr_t>(round)));
      dawdle(3 * round);
      ASSERT_TRUE(team->finish());
      for (int i = 1; i < members; ++i) ASSERT_EQ(owner->seen[static_cast<size_t>(i)].posts, round);
      dawdle(5 * round);
    }
    for (const Seen& seen : owner->seen) EXPECT_FALSE(seen.moved);
    team->dismiss();
  }
};

TEST_F(PersistentTeamRaceTest, NoPostAndNoEndIsLostWhereAllSleep) { post_many(nullptr); }

TEST_F(PersistentTeamRaceTest, NoPostAndNoEndIsLostWhereTheySpinALittle) {
  set_spin_ns(3000);
  post_many(nullptr);
}

// Sleepers wake others, which wake by themselves meanwhile, or have not fallen asleep yet.
TEST_F(PersistentTeamRaceTest, NoPostAndNoEndIsLostWhereSleepersWakeOthers) {
  PersistentTeam::always_by_tree = true;
  for (const long spin_ns : {0, 3000, 30000}) {
    set_spin_ns(spin_ns);
    post_many(nullptr, 2 * kMost);
  }
}

// The owner does not sleep, and posts again within nanoseconds of the member's end, later by a little each time: when
// that is about to fall asleep, too.
TEST_F(PersistentTeamRaceTest, NoPostIsLostByWhoIsAboutToSleep) {
  const auto [owner, team] = make(2);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
  long round = 0;
  while (std::chrono::steady_clock::now() < end) {
    for (int later = 0; later < 200; ++later) {
      for (std::atomic<int> i = 0; i.load(std::memory_order_relaxed) < later;) {
        i.store(i.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      }
      post(team, 2, nullptr);
      ++round;
      bool late = false;
      team->finish_by([&](auto& done) {
        for (int spins = 0; spins < 1000 && !done(); ++spins) weft::platform::pause();
        for (int yields = 0; yields < 1000 && !done(); ++yields) std::this_thread::yield();
        late = !await(done);
      });
      ASSERT_FALSE(late);
      ASSERT_EQ(owner->seen[1].posts, round);
    }
  }
}

// Optional posts that are taken back at once, a little later, or when all have begun, and plain ones between: a member
// runs a post before the owner goes on, or never. Its plain fields are the owner's then, and so are the post's words.
class OptionalPostTest : public PersistentTeamRaceTest {
 protected:
  struct Counts {
    long claimed = 0;
    long withdrawn = 0;
  };

  Counts post_optional() {
    constexpr int kMembers = 4;
    Counts counts;
    const auto [owner, team] = make(kMembers, note_and_dawdle);
    for (int round = 1; round <= kRounds && !testing::Test::HasFailure(); ++round) {
      std::array<long, kMembers> before{};
      for (size_t i = 1; i < kMembers; ++i) before[i] = owner->seen[i].posts;
      const bool optional = round % 5 != 0;
      auto* const word = reinterpret_cast<void*>(static_cast<uintptr_t>(round));
      if (optional) {
        team->start_optional(kMembers, {{word}});
      } else {
        team->start(kMembers, {{word}});
      }
      if (round % 3 != 0) dawdle(3 * round);
      if (round % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
      std::array<bool, kMembers> withdrawn{};
      int last = 0;
      while (const int index = team->withdraw_next()) {
        EXPECT_TRUE(optional);
        EXPECT_GT(index, last) << "members are taken back in ascending order";
        last = index;
        withdrawn[static_cast<size_t>(index)] = true;
      }
      EXPECT_TRUE(team->finish());
      for (size_t i = 1; i < kMembers; ++i) {
        const long runs = owner->seen[i].posts - before[i];
        EXPECT_EQ(runs, withdrawn[i] ? 0 : 1);
        EXPECT_GE(runs, optional ? 0 : 1);
        EXPECT_LE(runs, 1);
        EXPECT_TRUE(team->has_finished(static_cast<int>(i)));
        if (runs == 1) {
          EXPECT_EQ(owner->seen[i].word, word);
        }
        if (optional) ++(runs == 1 ? counts.claimed : counts.withdrawn);
      }
    }
    for (const Seen& seen : owner->seen) EXPECT_FALSE(seen.moved);
    team->dismiss();
    return counts;
  }
};

TEST_F(OptionalPostTest, RunsBeforeTheOwnerGoesOnOrNeverWhereAllSleep) {
  const Counts counts = post_optional();
  EXPECT_GT(counts.claimed, 0);
  EXPECT_GT(counts.withdrawn, 0);
}

TEST_F(OptionalPostTest, RunsBeforeTheOwnerGoesOnOrNeverWhereTheySpinALittle) {
  set_spin_ns(20000);
  const Counts counts = post_optional();
  EXPECT_GT(counts.claimed, 0);
  EXPECT_GT(counts.withdrawn, 0);
}

// Whoever has begun is waited for; a member that begins late finds nothing to do.
TEST_F(OptionalPostTest, WithdrawsOnlyWhoHasNotBegun) {
  const auto [owner, team] = make(2, note_and_wait);
  team->start_optional(2, {{owner}});
  ASSERT_TRUE(await([&] { return owner->waits.load() == 1; }));
  team->withdraw();
  EXPECT_FALSE(team->has_finished(1));
  owner->goes_on = true;
  ASSERT_TRUE(team->finish());
  EXPECT_EQ(owner->seen[1].posts, 1);
  team->withdraw();
  EXPECT_TRUE(team->finish()) << "nothing is left to take back";
  team->dismiss();
  EXPECT_EQ(owner->seen[1].posts, 1);
}

// The owner makes them ready together.
TEST_F(PersistentTeamRaceTest, NoPostAndNoEndIsLostInAGang) {
  static ParallelCall gang;
  gang.gang = true;
  post_many(&gang);
}

// Nothing but the nudge wakes the member.
TEST_F(PersistentTeamRaceTest, NoNudgeIsLostWhereNobodyPosts) {
  const auto [owner, team] = make(2);
  post(team, 2, nullptr);
  ASSERT_TRUE(team->finish());
  for (int round = 1; round <= kRounds; ++round) {
    team->nudge(1);
    const auto heard = [&] { return owner->seen[1].nudges.load() == round; };
    for (int i = 0; i < 1000 && !heard(); ++i) std::this_thread::yield();
    ASSERT_TRUE(await(heard));
    dawdle(3 * round);
  }
}

// Nudges and posts meet.
TEST_F(PersistentTeamRaceTest, NoNudgeIsLostBesidePosts) {
  constexpr int kNudges = 500;
  const auto [owner, team] = make(3, note_and_dawdle);
  post(team, 3, nullptr);
  ASSERT_TRUE(team->finish());
  std::atomic<bool> over{false};
  std::atomic<int> nudged{0};
  std::thread nudger([&] {
    for (int round = 0; round < kNudges && !over.load(); ++round) {
      const int before = owner->seen[1].nudges.load();
      team->nudge(1);
      ++nudged;
      if (!await([&] { return owner->seen[1].nudges.load() > before; })) break;
    }
    over = true;
  });
  int posts = 1;
  for (; !over.load(); ++posts) {
    post(team, 3, nullptr);
    EXPECT_TRUE(team->finish());
    dawdle(posts);
    // Where nobody posts, only the nudge itself wakes the member.
    if (posts % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  nudger.join();
  EXPECT_EQ(nudged.load(), kNudges);
  EXPECT_TRUE(await([&] { return owner->seen[1].nudges.load() >= kNudges; }));
  EXPECT_EQ(owner->seen[2].nudges.load(), 0);
  EXPECT_EQ(owner->seen[1].posts, posts);
}

struct Stopped : Owner {
  std::atomic<int> round{0};
};

// Stays in its call until the owner has been stopped.
void wait_for_the_stop(PersistentTeam* team, int, const Post& post) {
  const auto* owner = static_cast<Stopped*>(static_cast<Owner*>(team->owner_data()));
  const auto round = static_cast<int>(reinterpret_cast<uintptr_t>(post.words[0]));
  while (owner->round.load() < round) std::this_thread::yield();
}

TEST_F(PersistentTeamRaceTest, NoStopIsLost) {
  constexpr int kStops = 1000;
  auto* owner = keep(new Stopped);
  PersistentTeam* team = make_for(owner, wait_for_the_stop);
  ASSERT_EQ(team->reserve(2), 2);
  std::atomic<bool> stop{false};
  std::atomic<int> asked{0};
  std::thread stopper([&] {
    for (int round = 1; round <= kStops; ++round) {
      while (asked.load() < round) std::this_thread::yield();
      dawdle(round);
      stop = true;
      // Sequentially consistent: a fence stands between the two.
      weft::platform::full_fence();
      team->call_owner();
      while (asked.load() == round) std::this_thread::yield();
    }
  });
  for (int round = 1; round <= kStops; ++round) {
    post(team, 2, reinterpret_cast<void*>(static_cast<uintptr_t>(round)));
    asked = round;
    dawdle(3 * round);
    ASSERT_FALSE(team->finish(stop));
    stop = false;
    owner->round = round;
    ASSERT_TRUE(team->finish());
  }
  asked = kStops + 1;
  stopper.join();
  owner->round = INT32_MAX;
}

}  // namespace
