// SPDX-License-Identifier: Apache-2.0
// Stacks of several workers in one mapping: each is apart from the others, with what faults below it.
#include "core/context/worker_stacks.h"

#include <cerrno>
#include <cstring>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/context/stack_overflow.h"

namespace {

using namespace weft::core;

constexpr size_t kStackSize = 128 * 1024;

// By the kernel, which says so instead of ending the process.
bool is_there(const char* address) { return access(address, F_OK) == 0 || errno != EFAULT; }

class WorkerStacksTest : public testing::Test {
 protected:
  WorkerStack take() {
    const WorkerStack stack = stacks_.take();
    if (stack.stack != nullptr) stack.guard();
    return stack;
  }

  WorkerStacks stacks_;
};

TEST_F(WorkerStacksTest, ThereAreNoneUntilTheyAreReserved) { EXPECT_EQ(stacks_.take().stack, nullptr); }

TEST_F(WorkerStacksTest, EachHasGuardsBelowBothOfItsStacks) {
  constexpr int kCount = 3;
  stacks_.reserve(kCount, kStackSize);
  const char* top = nullptr;
  for (int i = 0; i < kCount; ++i) {
    const WorkerStack mine = take();
    if (i == 0 && mine.stack == nullptr) GTEST_SKIP() << "the system cannot guard pages within a mapping";
    ASSERT_NE(mine.stack, nullptr);
    ASSERT_NE(mine.handlers, nullptr);
    for (char* const lowest : {mine.handlers, mine.stack}) {
      EXPECT_FALSE(is_there(lowest - 1));
      EXPECT_FALSE(is_there(lowest - kGuardSize));
    }
    // All of both is memory, and not another's.
    memset(mine.handlers, i + 1, AlternateStack::kSize);
    memset(mine.stack, i + 1, kStackSize);
    EXPECT_EQ(mine.handlers[0], i + 1);
    EXPECT_GT(mine.stack, mine.handlers);
    if (top != nullptr) {
      EXPECT_GE(mine.handlers - kGuardSize, top);
      EXPECT_EQ(top[-1], i);
    }
    top = mine.stack + kStackSize;
  }
  EXPECT_EQ(stacks_.take().stack, nullptr) << "more than have been reserved";
}

TEST_F(WorkerStacksTest, OneThatIsPutBackIsTakenAgainAndTheRestGoesBack) {
  stacks_.reserve(2, kStackSize);
  const WorkerStack first = take();
  if (first.stack == nullptr) GTEST_SKIP() << "the system cannot guard pages within a mapping";
  stacks_.put_back();
  EXPECT_EQ(take().stack, first.stack);
  char* const second = first.stack + kStackSize + 2 * kGuardSize + AlternateStack::kSize;
  EXPECT_TRUE(is_there(second));
  // Another thread has begun to make workers: it finds what is there.
  stacks_.reserve(5, kStackSize);
  stacks_.release();
  EXPECT_FALSE(is_there(second));
  EXPECT_TRUE(is_there(first.stack));
  EXPECT_EQ(stacks_.take().stack, nullptr);
}

}  // namespace
