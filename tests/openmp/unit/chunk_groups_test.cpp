// SPDX-License-Identifier: Apache-2.0
// Members of a large team that take their chunks by groups.
#include "openmp/record/chunk_groups.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using namespace weft::openmp;

constexpr int kMembers = 20;  // two groups and a half
constexpr uint64_t kGroup = kMembersInGroup;

struct Loop {
  Workshare share;
  Loop(uint64_t count, uint64_t chunk, int members = kMembers) {
    weft::base::LoopSchedule schedule{};
    schedule.kind = weft::base::LoopSchedule::Kind::dynamic;
    schedule.monotonic = true;
    share_dynamic_loop(&share, schedule, chunk, count, members);
    share_by_groups(&share);
    EXPECT_FALSE(share.split);
  }
  ~Loop() { delete[] share.ranges.load(); }
  ChunkRange& range(int group) { return share.ranges.load()[group]; }
};

int64_t far_lines(int64_t count) { return weft::platform::ticks_of_20_us() / 200 * count; }

// Threads that take all of it at the same time: each iteration once, ascending for each of them.
void take_all(uint64_t count, uint64_t chunk_size, int pauses) {
  Loop loop(count, chunk_size);
  ASSERT_EQ(loop.share.groups, 3);
  std::vector<std::vector<Chunk>> taken(kMembers);
  std::vector<std::thread> threads;
  std::atomic<int> come{0};
  for (int number = 0; number < kMembers; ++number) {
    threads.emplace_back([&, number] {
      GroupCursor cursor;
      come.fetch_add(1);
      while (come.load() != kMembers) std::this_thread::yield();
      for (Chunk chunk; next_of_group(&loop.share, cursor, number, kMembers, &chunk);) {
        taken[static_cast<size_t>(number)].push_back(chunk);
        for (int i = 0; i < pauses * number % 7; ++i) std::this_thread::yield();
      }
      EXPECT_FALSE(ChunkGroups::take(&loop.share, cursor, number, kMembers)) << "it is over for good";
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int> hits(count);
  int lasts = 0;
  for (const auto& mine : taken) {
    uint64_t before = 0;
    for (const Chunk& chunk : mine) {
      EXPECT_GE(chunk.begin, before);
      before = chunk.end;
      EXPECT_EQ(chunk.begin % chunk_size, 0U);
      EXPECT_EQ(chunk.end - chunk.begin, chunk.last ? (count - 1) % chunk_size + 1 : chunk_size);
      lasts += chunk.last ? 1 : 0;
      for (uint64_t i = chunk.begin; i < chunk.end; ++i) ++hits[i];
    }
  }
  EXPECT_EQ(hits, std::vector<int>(count, 1));
  EXPECT_EQ(lasts, 1);
}

TEST(ChunkGroups, HandOutEachIterationOnceInAscendingOrder) {
  take_all(100'003, 3, 0);
  take_all(20'000, 1, 0);
  for (int i = 0; i < 20; ++i) take_all(2'000, 5, 1);
}

TEST(ChunkGroups, OneMemberAloneGetsAll) {
  for (const int number : {0, 7, 8, kMembers - 1}) {
    Loop loop(1'001, 1);
    GroupCursor cursor;
    uint64_t next = 0;
    for (Chunk chunk; next_of_group(&loop.share, cursor, number, kMembers, &chunk); ++next) EXPECT_EQ(chunk.begin, next);
    EXPECT_EQ(next, 1'001U);
    EXPECT_TRUE(loop.range(number / kMembersInGroup).is_over()) << "its neighbours need not ask the counter";
  }
}

TEST(ChunkGroups, OneFillsAndTheOthersTakeThat) {
  Loop loop(100'000, 1);
  std::vector<GroupCursor> cursors(2 * kGroup);
  for (uint64_t i = 0; i < 2 * kGroup; ++i) {
    EXPECT_TRUE(ChunkGroups::take(&loop.share, cursors[i], static_cast<int>(i), kMembers));
    EXPECT_EQ(cursors[i].begin, i);
    EXPECT_EQ(cursors[i].end, i + 1) << "nothing is known of the chunks yet";
    EXPECT_EQ(loop.share.next.load(), i < kGroup ? kGroup : 2 * kGroup);
  }
}

// It has been further than what the group has now, or somebody does not come to fill the range.
TEST(ChunkGroups, WhoCannotTakeOfItsGroupTakesOfTheCounter) {
  Loop loop(100'000, 1);
  loop.share.next = 500;
  loop.range(0).set(400, 408);
  GroupCursor cursor;
  cursor.begin = cursor.end = 450;
  cursor.apart = true;
  EXPECT_TRUE(ChunkGroups::take(&loop.share, cursor, 1, kMembers));
  EXPECT_EQ(cursor.begin, 500U);
  EXPECT_EQ(cursor.end, 501U);

  uint64_t first = 0;
  uint64_t end = 0;
  loop.range(0).set(460, 461);
  EXPECT_EQ(loop.range(0).take_some(1, &first, &end), ChunkRange::Found::last) << "the caller is to fill it";
  EXPECT_FALSE(loop.range(0).is_over());
  EXPECT_TRUE(ChunkGroups::take(&loop.share, cursor, 1, kMembers));
  EXPECT_EQ(cursor.begin, 501U);
  EXPECT_EQ(loop.range(0).take_some(1, &first, &end), ChunkRange::Found::filled);

  // What has been filled in meanwhile lies before that.
  loop.range(0).set(470, 478);
  EXPECT_TRUE(ChunkGroups::take(&loop.share, cursor, 1, kMembers));
  EXPECT_EQ(cursor.begin, 502U);

  // And goes back to its group when that has caught up.
  loop.range(0).set(600, 608);
  EXPECT_TRUE(ChunkGroups::take(&loop.share, cursor, 1, kMembers));
  EXPECT_EQ(cursor.begin, 600U);
}

// Who takes the last ones fills the range before it goes on with them.
TEST(ChunkGroups, TheLastOneFillsAgain) {
  Loop loop(100'000, 1);
  loop.share.next = 500;
  loop.range(0).set(400, 401);
  GroupCursor cursor;
  cursor.taken = 1;
  // As if it had been over at once: what it has taken lies in the future.
  cursor.taken_at = weft::platform::ticks() + INT64_MAX / 4;
  EXPECT_TRUE(ChunkGroups::take(&loop.share, cursor, 1, kMembers));
  EXPECT_EQ(cursor.begin, 400U);
  uint64_t first = 0;
  EXPECT_EQ(loop.range(0).look(&first), ChunkRange::Found::some);
  EXPECT_EQ(first, 500U);

  // Long chunks: nobody is to wait for one that a neighbour has while the counter has others.
  loop.range(1).set(400, 401);
  cursor = {};
  cursor.taken = 1;
  cursor.taken_at = weft::platform::ticks() - far_lines(2 * kMembers);
  EXPECT_TRUE(ChunkGroups::take(&loop.share, cursor, kMembersInGroup, kMembers));
  EXPECT_EQ(cursor.begin, 400U);
  EXPECT_EQ(loop.range(1).look(&first), ChunkRange::Found::unfilled);
}

TEST(ChunkGroups, SizesGoByTheTimeOfAChunk) {
  constexpr uint64_t kMuch = 1'000'000;
  constexpr int kLarge = 192;
  const auto sizes = [](int64_t ticks, uint64_t left) { return ChunkGroups::sizes(kLarge, ticks, true, left); };
  // The counter has time for each member.
  EXPECT_EQ(sizes(far_lines(kLarge), kMuch).own, 1U);
  EXPECT_EQ(sizes(far_lines(kLarge), kMuch).group, 1U);
  // It has time for each group.
  EXPECT_EQ(sizes(far_lines(kLarge) - 1, kMuch).group, kGroup);
  EXPECT_EQ(sizes(far_lines(kLarge / kGroup), kMuch).own, 1U);
  EXPECT_EQ(sizes(far_lines(kLarge / kGroup), kMuch).group, 2 * kGroup);
  EXPECT_GE(sizes(far_lines(1), kMuch).group, kGroup * kLarge / kGroup);
  // The group's range has no time for each.
  EXPECT_GT(sizes(far_lines(1) / 10, kMuch).own, 10U);
  EXPECT_LE(sizes(0, kMuch).own, 64U);
  EXPECT_LE(sizes(0, kMuch).group, kGroup * 4096);
  // Of little that is left nobody takes much.
  EXPECT_EQ(sizes(0, kLarge).own, 1U);
  EXPECT_EQ(sizes(far_lines(kLarge / kGroup), kLarge).group, 2 * kGroup) << "as the counter's line wants it";
}

TEST(ChunkGroups, FewChunksHaveNone) {
  EXPECT_EQ(Loop(8 * kMembers, 1).share.groups, 3);
  EXPECT_EQ(Loop(8 * kMembers - 1, 1).share.groups, 0);
  EXPECT_EQ(Loop(UINT64_MAX / 2 + 1, 1).share.groups, 0) << "numbers have 31 bits";
  EXPECT_EQ(Loop(0, 4).share.groups, 0);
}

}  // namespace
