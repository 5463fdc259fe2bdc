// SPDX-License-Identifier: Apache-2.0
// Parallel calls of calls are all run, at any depth, from any number of roots.
#include "core/sched/scheduler.h"
#include "core/sched/start.h"

#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace weft::core;

struct Sum : ParallelCall {
  std::atomic<long>* total = nullptr;
  int depth = 0;
  int width = 0;
};

void run(std::atomic<long>* total, int depth, int width);

void add(ParallelCall* parallel_call, int) {
  auto* sum = static_cast<Sum*>(parallel_call);
  if (sum->depth == 0) {
    ++*sum->total;
  } else {
    run(sum->total, sum->depth, sum->width);
  }
}

// Records must outlive late claimers, so they are never freed, only kept where a leak checker sees them.
Sum* new_record() {
  static std::mutex mutex;
  static auto* all = new std::vector<Sum*>;
  std::lock_guard lock(mutex);
  all->push_back(new Sum);
  return all->back();
}

void run(std::atomic<long>* total, int depth, int width) {
  static thread_local std::vector<Sum*> records;
  if (records.empty()) records.push_back(new_record());
  Sum* sum = records.back();
  records.pop_back();
  Context* self = attach();
  if (self->home != nullptr) enter_region(self, 1);
  sum->call = add;
  sum->total = total;
  sum->depth = depth - 1;
  sum->width = width;
  publish(sum, width);
  add(sum, 0);
  join(sum);
  if (self->home != nullptr) leave_region(self);
  records.push_back(sum);
}

class SchedulerTest : public ::testing::Test {
 protected:
  void SetUp() override { start({.slots = 2, .stack_size = 256 * 1024, .spin_ns = 100'000}); }
};

TEST_F(SchedulerTest, RunsEveryCall) {
  std::atomic<long> total{0};
  for (int i = 0; i < 1000; ++i) run(&total, 1, 8);
  EXPECT_EQ(total.load(), 8000);
}

TEST_F(SchedulerTest, RunsParallelCallsInsideParallelCalls) {
  std::atomic<long> total{0};
  for (int i = 0; i < 50; ++i) run(&total, 3, 6);
  EXPECT_EQ(total.load(), 50 * 216);
}

TEST_F(SchedulerTest, ServesManyRoots) {
  std::atomic<long> total{0};
  std::vector<std::thread> roots;
  for (int t = 0; t < 8; ++t) {
    roots.emplace_back([&] {
      for (int i = 0; i < 200; ++i) run(&total, 2, 4);
      detach();
    });
  }
  for (auto& root : roots) root.join();
  EXPECT_EQ(total.load(), 8 * 200 * 16);
}

}  // namespace
