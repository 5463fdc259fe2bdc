// SPDX-License-Identifier: Apache-2.0
// The kernel of this machine, as far as it allows: what it writes into rings is read as it was meant.
#include "numa/perf_rings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace {

using namespace weft::tools::numa;

constexpr size_t kPage = 4096;
constexpr size_t kPages = 512;
// The kernel takes so many a second, and learns of the rate from the first faults: 512 alone may all lie between two
// of its samples. These take it some 20 ms.
constexpr int kRounds = 64;

// The accesses of a child to new pages, by these events; empty: they are forbidden here.
std::vector<KernelTouch> touches_of_a_child(const std::vector<PerfEvent>& events, char* memory, int& child) {
  PerfRings rings(events);
  if (rings.error() != 0) return {};
  child = fork();
  if (child == 0) {
    for (int round = 0; round < kRounds; ++round) {
      for (size_t i = 0; i < kPages; ++i) static_cast<volatile char*>(memory)[i * kPage] = 1;
      madvise(memory, kPages * kPage, MADV_DONTNEED);
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return rings.take();
}

class Rings : public testing::Test {
 protected:
  void SetUp() override {
    void* mapped = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    madvise(mapped, kPages * kPage, MADV_NOHUGEPAGE);
    memory_ = static_cast<char*>(mapped);
  }
  void TearDown() override { munmap(memory_, kPages * kPage); }

  void expect_touches(const std::vector<PerfEvent>& events, Source source) {
    int child = 0;
    const std::vector<KernelTouch> touches = touches_of_a_child(events, memory_, child);
    if (child == 0) GTEST_SKIP() << "perf is forbidden here";
    const auto begin = reinterpret_cast<uint64_t>(memory_);
    const auto here = std::count_if(touches.begin(), touches.end(), [&](const KernelTouch& touch) {
      return touch.process == child && touch.thread == child && touch.source == source && touch.time > 0 &&
             touch.access == weft::numa::Access::unknown && touch.code != 0 && touch.address >= begin &&
             touch.address < begin + kPages * kPage;
    });
    EXPECT_GT(here, 0);
  }

  char* memory_ = nullptr;
};

TEST_F(Rings, PageFaults) {
  const auto kernel = running_kernel();
  expect_touches(page_faults(*kernel), Source::page_fault);
}

// As CPUs that take samples of loads behind a leader alone need it, with events that every machine has.
TEST_F(Rings, EventsBehindALeader) {
  const auto kernel = running_kernel();
  PerfEvent event = page_faults(*kernel).front();
  event.source = Source::memory_sample;
  perf_event_attr leader{};
  leader.type = PERF_TYPE_SOFTWARE;
  leader.config = PERF_COUNT_SW_DUMMY;
  event.leader = leader;
  expect_touches({page_faults(*kernel).front(), event}, Source::memory_sample);
}

TEST_F(Rings, EventsThatAreNotThere) {
  PerfEvent event;
  event.attributes.type = 0x7fffffff;
  EXPECT_NE(PerfRings({event}).error(), 0);
  EXPECT_NE(PerfRings({}).error(), 0);
}

}  // namespace
