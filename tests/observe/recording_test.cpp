// SPDX-License-Identifier: Apache-2.0
// Recordings that begin and end while the process runs, and what a paused recorder is told: through the callbacks that
// it gives a runtime, here one without threads of its own.
#include "observe/record/profile/recording.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "observe/record/profile/context_record.h"
#include "observe/record/profile/events.h"
#include "platform/cycles.h"
#include "weft/weft-tools.h"

namespace weft::observe {
namespace {

const void* at(uintptr_t address) { return reinterpret_cast<const void*>(address); }

// What the recorder has asked to be called.
struct Runtime {
  ompt_callback_thread_begin_t thread_begin = nullptr;
  ompt_callback_thread_end_t thread_end = nullptr;
  ompt_callback_parallel_begin_t parallel_begin = nullptr;
  ompt_callback_parallel_end_t parallel_end = nullptr;
  ompt_callback_implicit_task_t implicit_task = nullptr;
  ompt_callback_work_t work = nullptr;
  weft_callback_call_t call = nullptr;
  weft_callback_library_t call_of_library = nullptr;
  weft_callback_region_wanted_t wanted = nullptr;
  weft_callback_region_after_t after = nullptr;
};
Runtime g_runtime;

template <class Function>
void keep(Function& kept, ompt_callback_t given) {
  kept = reinterpret_cast<Function>(given);
}

ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t given) {
  switch (event) {
    case ompt_callback_thread_begin: keep(g_runtime.thread_begin, given); break;
    case ompt_callback_thread_end: keep(g_runtime.thread_end, given); break;
    case ompt_callback_parallel_begin: keep(g_runtime.parallel_begin, given); break;
    case ompt_callback_parallel_end: keep(g_runtime.parallel_end, given); break;
    case ompt_callback_implicit_task: keep(g_runtime.implicit_task, given); break;
    case ompt_callback_work: keep(g_runtime.work, given); break;
    default: break;
  }
  return ompt_set_always;
}

ompt_interface_fn_t lookup(const char* name) {
  const std::string wanted = name;
  const auto found = [](auto* function) { return reinterpret_cast<ompt_interface_fn_t>(function); };
  if (wanted == "weft_get_carrier") return found(+[]() { return 0; });
  if (wanted == "ompt_get_num_procs") return found(+[]() { return 2; });
  if (wanted == "weft_set_tool_threads") return found(+[](int) {});
  if (wanted == "ompt_set_callback") return found(set_callback);
  if (wanted == "weft_set_call_callback") return found(+[](weft_callback_call_t given) { g_runtime.call = given; });
  if (wanted == "weft_set_library_callback") {
    return found(+[](weft_callback_library_t given) { g_runtime.call_of_library = given; });
  }
  if (wanted == "weft_set_region_filter") {
    return found(+[](weft_callback_region_wanted_t wanted_region, weft_callback_region_after_t after) {
      g_runtime.wanted = wanted_region;
      g_runtime.after = after;
    });
  }
  return found(+[](void*) {});
}

// As the runtime keeps it for the thread.
thread_local weft_region_skip_t* t_skip = nullptr;

int wanted(const void* caller) { return g_runtime.wanted(caller, &t_skip); }

bool is_skipped(const void* caller) {
  return t_skip != nullptr && t_skip->codeptr_ra == caller &&
         std::atomic_ref(*t_skip->valid).load() == t_skip->expected && t_skip->left > 0;
}

void toggle() { std::atomic_ref(*t_skip->shown).fetch_xor(t_skip->toggles); }

// A thread of the program's, known to the recorder.
class Root {
 public:
  Root() { g_runtime.thread_begin(ompt_thread_initial, nullptr); }
  ~Root() { g_runtime.thread_end(nullptr); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  // A region of one member with a loop in it; whether it was told.
  bool region(uintptr_t caller) {
    if (is_skipped(at(caller))) {
      std::atomic_ref(t_skip->left).fetch_sub(1);
      toggle();
      EXPECT_EQ(g_nodes[t_record->shown().node].caller, at(caller));
      toggle();
      return false;
    }
    g_runtime.call(weft_call_enter);
    const bool told = wanted(at(caller)) != 0;
    if (told) {
      ompt_data_t parallel{};
      ompt_data_t task{};
      g_runtime.parallel_begin(nullptr, nullptr, &parallel, 3, 0, at(caller));
      g_runtime.implicit_task(ompt_scope_begin, &parallel, &task, 3, 0, ompt_task_implicit);
      g_runtime.work(ompt_work_loop_static, ompt_scope_begin, &parallel, &task, 10, at(caller + 1));
      g_runtime.work(ompt_work_loop_static, ompt_scope_end, &parallel, &task, 10, at(caller + 1));
      g_runtime.implicit_task(ompt_scope_end, nullptr, &task, 0, 0, ompt_task_implicit);
      g_runtime.parallel_end(&parallel, nullptr, 0, at(caller));
    } else {
      g_runtime.after();
    }
    g_runtime.call(weft_call_leave);
    return told;
  }
};

class RecordingTest : public ::testing::Test {
 protected:
  RecordingTest() {
    prepare_events(runtime_calls(lookup).value());
    EXPECT_TRUE(listen(lookup, kProfileEvents));
    root_.emplace();
  }

  static uint64_t counted(const Recording& recording, Kind kind, uintptr_t caller) {
    const std::vector<Sum> sums = recording.scaled_sums(g_nodes.count());
    uint64_t count = 0;
    for (ConstructId id = 0; id < sums.size(); ++id) {
      if (g_nodes[id].kind == kind && g_nodes[id].caller == at(caller)) count += sums[id].count;
    }
    return count;
  }

  std::optional<Root> root_;
};

TEST_F(RecordingTest, EachHasItsOwnCounts) {
  for (const int regions : {3, 1, 0, 5}) {
    Recording recording(2);
    ASSERT_TRUE(recording.start());
    for (int i = 0; i < regions; ++i) EXPECT_TRUE(root_->region(0x1000));
    ASSERT_TRUE(recording.stop());
    for (int i = 0; i < 7; ++i) EXPECT_FALSE(root_->region(0x1000));
    EXPECT_EQ(counted(recording, Kind::region, 0x1000), static_cast<uint64_t>(regions));
    EXPECT_EQ(counted(recording, Kind::loop, 0x1001), static_cast<uint64_t>(regions));
    EXPECT_GT(recording.sampler().snapshots(), 0u);
    EXPECT_EQ(recording.sampler().unseen(), 0);
  }
}

TEST_F(RecordingTest, RegionsThatNeedNotBeAskedForAreThoseOfOneRecording) {
  for (int i = 0; i < 3; ++i) {
    Recording recording(2);
    ASSERT_TRUE(recording.start());
    EXPECT_TRUE(root_->region(0x1100));
    int told = 1;
    for (int region = 1; region < 20000; ++region) told += root_->region(0x1100) ? 1 : 0;
    EXPECT_LT(told, 2000);
    ASSERT_TRUE(recording.stop());
    EXPECT_EQ(counted(recording, Kind::region, 0x1100), 20000u);
  }
}

TEST_F(RecordingTest, BetweenThemNothingIsToldAndNoPlaceIsMade) {
  const uint32_t nodes = g_nodes.count();
  for (uintptr_t i = 0; i < 1000; ++i) ASSERT_FALSE(root_->region(0x2000 + 2 * i));
  uint64_t data = 0;
  g_runtime.call_of_library(weft_library_call, 1, at(0x2fff), 2, &data);
  EXPECT_EQ(data, 0u);  // so that nobody is told who helps
  g_runtime.call_of_library(weft_library_call, 0, at(0x2fff), 2, &data);
  EXPECT_EQ(g_nodes.count(), nodes);
  EXPECT_TRUE(t_record->is_serial());
}

TEST_F(RecordingTest, ARegionThatIsOpenWhenOneBeginsOrEndsLeavesItsFrame) {
  ASSERT_EQ(wanted(at(0x3000)), 0);
  Recording recording(2);
  ASSERT_TRUE(recording.start());
  EXPECT_FALSE(t_record->is_serial());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  g_runtime.after();
  EXPECT_TRUE(t_record->is_serial());
  EXPECT_TRUE(root_->region(0x3100));
  uint64_t data = 0;
  g_runtime.call_of_library(weft_library_call, 1, at(0x3200), 2, &data);
  EXPECT_NE(data, 0u);
  ompt_data_t parallel{};
  ASSERT_NE(wanted(at(0x3300)), 0);
  g_runtime.parallel_begin(nullptr, nullptr, &parallel, 1, 0, at(0x3300));
  ASSERT_TRUE(recording.stop());
  EXPECT_FALSE(root_->region(0x3400));  // in it
  g_runtime.parallel_end(&parallel, nullptr, 0, at(0x3300));
  g_runtime.call_of_library(weft_library_call, 0, at(0x3200), 2, &data);
  EXPECT_TRUE(t_record->is_serial());
  EXPECT_EQ(counted(recording, Kind::region, 0x3000), 0u);
  EXPECT_EQ(counted(recording, Kind::region, 0x3100), 1u);
  EXPECT_GT(recording.sampler().unseen(), 0);
}

TEST_F(RecordingTest, ItsSerialPartIsItsOwn) {
  Recording before(2);
  ASSERT_TRUE(before.start());
  root_->region(0x4000);
  EXPECT_EQ(g_nodes[t_record->node()].caller, at(0x4000));  // behind that region
  ASSERT_TRUE(before.stop());
  Recording recording(2);
  ASSERT_TRUE(recording.start());
  EXPECT_EQ(g_nodes[t_record->node()].kind, Kind::serial);
  EXPECT_EQ(g_nodes[t_record->node()].caller, nullptr);
  ASSERT_TRUE(recording.stop());
}

// Another recording may give the same place more to do: that its regions were short says nothing any more.
TEST_F(RecordingTest, WhatIsShortIsFoundOutAnew) {
  Entry* entry = t_record->entry_of(t_record->node(), Kind::region, at(0x5000));
  const auto told_of = [entry](int regions) {
    int told = 0;
    for (int i = 0; i < regions; ++i) {
      told += entry->is_watched() ? 1 : 0;
      entry->add_length(10);
    }
    return told;
  };
  for (int i = 0; i < 2; ++i) {
    Recording recording(2);
    ASSERT_TRUE(recording.start());
    EXPECT_EQ(told_of(64), 64);
    EXPECT_LT(told_of(1000), 100);
    ASSERT_TRUE(recording.stop());
  }
}

TEST_F(RecordingTest, TeamsOfEarlierOnesAreForgotten) {
  Recording first(2);
  ASSERT_TRUE(first.start());
  root_->region(0x6000);
  ASSERT_TRUE(first.stop());
  const Entry* entry = t_record->entry_of(t_record->node(), Kind::serial, nullptr);
  ASSERT_NE(entry, nullptr);
  const auto largest = [] {
    int members = 0;
    for (ConstructId id = 0; id < g_nodes.count(); ++id) {
      if (g_nodes[id].caller == at(0x6000)) members = std::max(members, g_nodes[id].members.load());
    }
    return members;
  };
  EXPECT_EQ(largest(), 3);
  Recording second(2);
  ASSERT_TRUE(second.start());
  EXPECT_EQ(largest(), 0);
  ASSERT_TRUE(second.stop());
}

TEST_F(RecordingTest, ThreadsHaveTheTimeThatTheyUsedInIt) {
  const int64_t before = platform::cpu_time_of_thread_ns(gettid());
  while (platform::cpu_time_of_thread_ns(gettid()) - before < 50'000'000) {
  }
  Recording recording(2);
  ASSERT_TRUE(recording.start());
  ASSERT_TRUE(recording.stop());
  for (const Threads::Thread& thread : recording.sampler().threads().all()) {
    if (thread.number == gettid()) {
      EXPECT_LT(thread.cpu - thread.before, 40'000'000);
    }
  }
}

// Threads open regions all the time; recordings begin and end meanwhile.
TEST_F(RecordingTest, BeginAndEndBesideRegionsOfOthers) {
  std::atomic<bool> ends{false};
  std::atomic<uint64_t> opened{0};
  std::vector<std::thread> threads;
  for (uintptr_t number = 0; number < 3; ++number) {
    threads.emplace_back([&, number] {
      while (!ends.load(std::memory_order_relaxed)) {
        Root root;  // threads come and go
        for (uintptr_t i = 0; i < 200; ++i) {
          root.region(0x7000 + 16 * number + 2 * (i % 4));
          ASSERT_TRUE(t_record->is_serial());
          opened.fetch_add(1, std::memory_order_relaxed);
        }
      }
    });
  }
  constexpr int kRecordings = 30;
  for (int i = 0; i < kRecordings; ++i) {
    Recording recording(2);
    ASSERT_TRUE(recording.start());
    const uint64_t before = opened.load(std::memory_order_relaxed);
    while (opened.load(std::memory_order_relaxed) < before + 50) std::this_thread::yield();
    ASSERT_TRUE(recording.stop());
    const uint64_t most = opened.load(std::memory_order_relaxed) + threads.size();
    uint64_t regions = 0;
    for (uintptr_t caller = 0x7000; caller < 0x7030; ++caller) regions += counted(recording, Kind::region, caller);
    EXPECT_GT(regions, 0u);
    EXPECT_LE(regions, most);
  }
  ends.store(true, std::memory_order_relaxed);
  for (std::thread& each : threads) each.join();
}

}  // namespace
}  // namespace weft::observe
