// SPDX-License-Identifier: Apache-2.0
// Members of a large team that take several chunks at a time.
#include "openmp/loop/chunk_batch.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace weft::openmp;

constexpr int kMembers = ChunkBatch::kLeastMembers;

Workshare* loop_of(uint64_t count, uint64_t chunk) {
  auto* share = new Workshare;
  weft::base::LoopSchedule schedule{};
  schedule.kind = weft::base::LoopSchedule::Kind::dynamic;
  schedule.monotonic = true;
  share_dynamic_loop(share, schedule, chunk, count, kMembers);
  EXPECT_FALSE(share->split);
  return share;
}

// Threads that take all of it at the same time: each iteration once, ascending for each of them.
TEST(ChunkBatch, HandsOutEachIterationOnceInAscendingOrder) {
  constexpr uint64_t kCount = 100'003;
  constexpr uint64_t kChunk = 3;
  const std::unique_ptr<Workshare> share(loop_of(kCount, kChunk));
  std::vector<std::vector<Chunk>> taken(kMembers);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&share, &mine] {
      ChunkBatch batch;
      for (Chunk chunk; next_of_batch(share.get(), batch, kMembers, &chunk);) mine.push_back(chunk);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int> hits(kCount);
  int lasts = 0;
  for (const auto& mine : taken) {
    uint64_t before = 0;
    for (const Chunk& chunk : mine) {
      EXPECT_GE(chunk.begin, before);
      before = chunk.end;
      EXPECT_EQ(chunk.begin % kChunk, 0U);
      EXPECT_EQ(chunk.end - chunk.begin, chunk.last ? kCount % kChunk : kChunk);
      lasts += chunk.last ? 1 : 0;
      for (uint64_t i = chunk.begin; i < chunk.end; ++i) ++hits[i];
    }
  }
  EXPECT_EQ(hits, std::vector<int>(kCount, 1));
  EXPECT_EQ(lasts, 1);
}

TEST(ChunkBatch, TakesMoreOfShortChunksAndOneOfLongOnes) {
  const std::unique_ptr<Workshare> share(loop_of(1'000'000, 1));
  ChunkBatch batch;
  const int64_t now = weft::platform::ticks();
  EXPECT_TRUE(take_batch(share.get(), batch, kMembers));
  EXPECT_EQ(batch.chunks, 1U) << "nothing is known yet";
  // As if they had been over at once: what they took lies in the future.
  for (uint64_t chunks = 2; chunks <= kMostInBatch; chunks *= 2) {
    batch.taken_at = now + INT64_MAX / 4;
    EXPECT_TRUE(take_batch(share.get(), batch, kMembers));
    EXPECT_EQ(batch.chunks, chunks);
  }
  batch.taken_at = now + INT64_MAX / 4;
  EXPECT_TRUE(take_batch(share.get(), batch, kMembers));
  EXPECT_EQ(batch.chunks, kMostInBatch);
  batch.taken_at = now - INT64_MAX / 4;
  EXPECT_TRUE(take_batch(share.get(), batch, kMembers));
  EXPECT_EQ(batch.chunks, 1U) << "they were long";
}

TEST(ChunkBatch, TakesFewOfWhatIsLeft) {
  constexpr uint64_t kLeft = 8 * 5 * kMembers;
  const std::unique_ptr<Workshare> share(loop_of(kLeft, 1));
  ChunkBatch batch;
  batch.chunks = kMostInBatch;
  batch.taken_at = weft::platform::ticks() + INT64_MAX / 4;
  EXPECT_TRUE(take_batch(share.get(), batch, kMembers));
  EXPECT_EQ(batch.chunks, 5U) << "an eighth of its share";
}

TEST(ChunkBatch, OfNothingIsNone) {
  const std::unique_ptr<Workshare> share(loop_of(0, 4));
  ChunkBatch batch;
  Chunk chunk;
  EXPECT_FALSE(next_of_batch(share.get(), batch, kMembers, &chunk));
  EXPECT_FALSE(next_of_batch(share.get(), batch, kMembers, &chunk));
}

}  // namespace
