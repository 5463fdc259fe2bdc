// SPDX-License-Identifier: Apache-2.0
// Both sinks at once: each has its own word for a region and a task, and finds it again.
#include "observe/record/tool/both.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "observe/record/profile/context_record.h"
#include "observe/record/profile/events.h"
#include "observe/record/profile/recording.h"
#include "observe/record/trace/events.h"

namespace weft::observe {
namespace {

ompt_data_t* g_region = nullptr;  // the caller's innermost one

int region_of_caller(int, ompt_data_t** parallel, int*) {
  *parallel = g_region;
  return 2;
}

const void* code_at(uintptr_t address) { return reinterpret_cast<const void*>(address); }

std::vector<trace::Record> records() {
  std::vector<trace::Record> all;
  trace::logs()->visit([&](const trace::Record& record) { all.push_back(record); });
  return all;
}

uint64_t counted(const Recording& recording, Kind kind, uintptr_t caller) {
  const std::vector<Sum> sums = recording.scaled_sums(g_nodes.count());
  uint64_t count = 0;
  for (ConstructId id = 0; id < sums.size(); ++id) {
    if (g_nodes[id].kind == kind && g_nodes[id].caller == code_at(caller)) count += sums[id].count;
  }
  return count;
}

class BothTest : public ::testing::Test {
 protected:
  BothTest() {
    const RuntimeCalls runtime{+[] { return 0; }, +[](int) {}, region_of_caller, 2};
    prepare_events(runtime);
    trace::prepare_events(calls_for_trace(runtime));
    kEventsOfBoth.thread_begin(ompt_thread_initial, nullptr);
  }
  ~BothTest() override { kEventsOfBoth.thread_end(nullptr); }
};

TEST_F(BothTest, EachHasTheEventsAndWordsOfItsOwn) {
  Recording recording(2);
  ASSERT_TRUE(recording.start());
  const Events& events = kEventsOfBoth;
  ompt_data_t parallel{};
  ompt_data_t member{};
  ompt_data_t task{};
  events.parallel_begin(nullptr, nullptr, &parallel, 2, 0, code_at(0x10));
  g_region = &parallel;
  events.implicit_task(ompt_scope_begin, &parallel, &member, 2, 0, ompt_task_implicit);
  events.work(ompt_work_loop_dynamic, ompt_scope_begin, nullptr, nullptr, 100, code_at(0x20));
  events.work(ompt_work_loop_dynamic, ompt_scope_end, nullptr, nullptr, 100, code_at(0x20));
  events.task_create(nullptr, nullptr, &task, ompt_task_explicit, 0, code_at(0x30));
  EXPECT_NE(task.ptr, nullptr);
  events.task_schedule(&member, ompt_task_switch, &task);
  events.task_schedule(&task, ompt_task_complete, &member);
  EXPECT_EQ(task.ptr, nullptr);
  EXPECT_EQ(g_region, &parallel);  // the runtime's own word is as it was
  events.implicit_task(ompt_scope_end, nullptr, &member, 0, 0, ompt_task_implicit);
  EXPECT_EQ(member.ptr, nullptr);
  events.parallel_end(&parallel, nullptr, 0, code_at(0x10));
  EXPECT_EQ(parallel.ptr, nullptr);
  g_region = nullptr;
  ASSERT_TRUE(recording.stop());

  EXPECT_EQ(counted(recording, Kind::region, 0x10), 1u);
  EXPECT_EQ(counted(recording, Kind::loop, 0x20), 1u);
  EXPECT_EQ(counted(recording, Kind::task, 0x30), 1u);
  EXPECT_EQ(g_nodes[t_record->node()].kind, Kind::serial);  // each frame was left

  using trace::What;
  const std::vector<trace::Record> all = records();
  std::vector<What> kinds;
  for (const trace::Record& record : all) kinds.push_back(record.what);
  EXPECT_EQ(kinds,
            (std::vector<What>{What::region, What::member, What::work, What::end, What::task, What::end, What::end}));
  EXPECT_EQ(all[1].id, all[0].id);
  EXPECT_EQ(all[1].caller, code_at(0x10));
  EXPECT_EQ(all[4].team(), all[0].id);  // of who has made the task
}

TEST_F(BothTest, RegionsAreAllTold) {
  EXPECT_EQ(kEventsOfBoth.region_wanted, nullptr);
  EXPECT_NE(kProfileEvents.region_wanted, nullptr);
}

}  // namespace
}  // namespace weft::observe
