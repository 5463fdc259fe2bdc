// SPDX-License-Identifier: Apache-2.0
// The events of a trace: one table of what happened, its word in the file and OMPT's number for it. The recorder writes
// a slice's words from the table, and `weft report` reads them by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "observe/format/words.h"
#include "weft/omp-tools.h"

namespace weft::observe {

// What a context is in.
enum class Event : uint8_t {
  serial,  // of a thread of the program's outside of everything else; in no file
  member,
  task,
  loop,
  sections,
  single,
  masked,
  taskloop,
  scope,
  barrier,  // waits from here on; an explicit one
  implicit_barrier,  // at the end of a construct or region
  tasks,
  critical,
  ordered,
  lock,
  in_critical,  // has got it; in no file
  in_ordered,
};
constexpr bool is_wait(Event event) noexcept { return event >= Event::barrier && event <= Event::lock; }

// The category of a slice: "cat" in the file.
enum class Category : uint8_t { member, task, work, wait };
inline constexpr const char* kCategoryWords[] = {"member", "task", "work", "wait"};
constexpr const char* word_of(Category category) noexcept { return kCategoryWords[static_cast<size_t>(category)]; }

// Numbers are those of ompt_work_t and ompt_sync_region_t. Behind the latter, from here on, they are ompt_mutex_t's.
inline constexpr int kMutexes = 100;
// OMPT has a callback of its own for it, and no number.
inline constexpr int kMaskedWork = 0;

struct EventRow {
  Category category;
  int number;
  const char* word;  // "name" in the file
  Event event;
  Schedule schedule = Schedule::unknown;
};

// The slices of members and tasks are named by their numbers, which stand in the file besides.
inline constexpr EventRow kEvents[] = {
    {Category::work, kMaskedWork, "masked", Event::masked},
    {Category::work, ompt_work_loop, "loop", Event::loop},
    {Category::work, ompt_work_loop_static, "loop", Event::loop, Schedule::fixed},
    {Category::work, ompt_work_loop_dynamic, "loop", Event::loop, Schedule::dynamic},
    {Category::work, ompt_work_loop_guided, "loop", Event::loop, Schedule::guided},
    {Category::work, ompt_work_loop_other, "loop", Event::loop},
    {Category::work, ompt_work_sections, "sections", Event::sections},
    {Category::work, ompt_work_single_executor, "single", Event::single},
    {Category::work, ompt_work_workshare, "workshare", Event::loop},
    {Category::work, ompt_work_distribute, "distribute", Event::loop},
    {Category::work, ompt_work_taskloop, "taskloop", Event::taskloop},
    {Category::work, ompt_work_scope, "scope", Event::scope},
    {Category::wait, ompt_sync_region_barrier, "wait", Event::implicit_barrier},
    {Category::wait, ompt_sync_region_barrier_implicit, "wait", Event::implicit_barrier},
    {Category::wait, ompt_sync_region_barrier_explicit, "barrier", Event::barrier},
    {Category::wait, ompt_sync_region_barrier_implementation, "wait", Event::implicit_barrier},
    {Category::wait, ompt_sync_region_barrier_implicit_workshare, "barrier of a construct", Event::implicit_barrier},
    {Category::wait, ompt_sync_region_barrier_implicit_parallel, "end of the region", Event::implicit_barrier},
    {Category::wait, ompt_sync_region_barrier_teams, "wait", Event::implicit_barrier},
    {Category::wait, ompt_sync_region_reduction, "wait", Event::implicit_barrier},
    {Category::wait, ompt_sync_region_taskwait, "taskwait", Event::tasks},
    {Category::wait, ompt_sync_region_taskgroup, "end of taskgroup", Event::tasks},
    {Category::wait, kMutexes + ompt_mutex_critical, "waits for critical", Event::critical},
    {Category::wait, kMutexes + ompt_mutex_ordered, "waits for its turn", Event::ordered},
    {Category::wait, kMutexes + ompt_mutex_atomic, "waits for atomic", Event::lock},
    {Category::wait, kMutexes + ompt_mutex_lock, "waits for a lock", Event::lock},
    {Category::wait, kMutexes + ompt_mutex_nest_lock, "waits for a lock", Event::lock},
};

// Null: no row has that number, or that word.
constexpr const EventRow* row_of(Category category, int number) noexcept {
  for (const EventRow& row : kEvents) {
    if (row.category == category && row.number == number) return &row;
  }
  return nullptr;
}
constexpr const EventRow* row_of(Category category, std::string_view word) noexcept {
  for (const EventRow& row : kEvents) {
    if (row.category == category && row.word == word) return &row;
  }
  return nullptr;
}

// Rows of the same word say the same of what is read, so that it does not matter which of them is found.
constexpr bool words_are_unambiguous() noexcept {
  for (const EventRow& row : kEvents) {
    if (row_of(row.category, std::string_view(row.word))->event != row.event) return false;
    if (row_of(row.category, row.number) != &row) return false;
  }
  return true;
}
static_assert(words_are_unambiguous());

}  // namespace weft::observe
