// SPDX-License-Identifier: Apache-2.0
// The tables that writers and readers of traces, profiles and reports share.
#include "observe/format/events.h"
#include "observe/account/meaning.h"
#include "observe/format/words.h"

#include <gtest/gtest.h>

namespace weft::observe {

namespace {

TEST(EventsTest, WhatTheRuntimeTellsHasARow) {
  for (const int work : {ompt_work_loop, ompt_work_sections, ompt_work_single_executor, ompt_work_workshare,
                         ompt_work_distribute, ompt_work_taskloop, ompt_work_scope, ompt_work_loop_static,
                         ompt_work_loop_dynamic, ompt_work_loop_guided, ompt_work_loop_other}) {
    EXPECT_NE(row_of(Category::work, work), nullptr) << work;
  }
  for (int region = ompt_sync_region_barrier; region <= ompt_sync_region_barrier_teams; ++region) {
    EXPECT_NE(row_of(Category::wait, region), nullptr) << region;
  }
  for (const int mutex :
       {ompt_mutex_lock, ompt_mutex_nest_lock, ompt_mutex_critical, ompt_mutex_atomic, ompt_mutex_ordered}) {
    EXPECT_NE(row_of(Category::wait, kMutexes + mutex), nullptr) << mutex;
  }
  EXPECT_EQ(row_of(Category::work, 99), nullptr);
}

TEST(EventsTest, AWordIsReadAsWhatItWasWrittenFor) {
  for (const EventRow& row : kEvents) {
    const EventRow* read = row_of(row.category, std::string_view(row.word));
    ASSERT_NE(read, nullptr) << row.word;
    EXPECT_EQ(read->event, row.event) << row.word;
    EXPECT_EQ(is_wait(row.event), row.category == Category::wait) << row.word;
    EXPECT_EQ(state_of(row.event) != State::work, row.category == Category::wait) << row.word;
  }
  EXPECT_EQ(row_of(Category::wait, std::string_view("waits for luck")), nullptr);
  EXPECT_EQ(row_of(Category::work, std::string_view("barrier")), nullptr);
}

TEST(EventsTest, WordsOfNumbers) {
  EXPECT_STREQ(word_of(Kind::taskloop), "taskloop");
  EXPECT_STREQ(word_of(Loss::few_threads), "few_threads");
  EXPECT_STREQ(word_of(Schedule::fixed), "static");
  EXPECT_EQ(number_of_word(kKindWords, "call"), static_cast<int>(Kind::call));
  EXPECT_EQ(number_of_word(kKindWords, "caller"), -1);
  EXPECT_EQ(number_of_word(kScheduleWords, ""), static_cast<int>(Schedule::unknown));
}

}  // namespace

}  // namespace weft::observe
