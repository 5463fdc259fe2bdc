// SPDX-License-Identifier: Apache-2.0
// The words that files of a recorder and reports have for constructs, for schedules and for the reasons of lost time.
// Each table has a word for each number, in the order of the numbers: whoever writes a file and whoever reads one look
// into the same table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace weft::observe {

// What a node of the program is, and a site of a report.
enum class Kind : uint8_t {
  program,  // the whole: node 0
  serial,  // of a thread of the program's outside of regions, behind the region that its place opened, or before any
  region,
  loop,
  sections,
  single,
  masked,
  taskloop,
  task,
  barrier,  // an explicit one
  critical,
  lock,
  ordered,
  call,  // of a library: its jobs are run by the pool, or it waits for other processes
};
inline constexpr const char* kKindWords[] = {"program",  "serial", "region",   "loop", "sections",
                                             "single",   "masked", "taskloop", "task", "barrier",
                                             "critical", "lock",   "ordered",  "call"};

enum class Schedule : uint8_t { unknown, fixed, dynamic, guided };
inline constexpr const char* kScheduleWords[] = {"", "static", "dynamic", "guided"};

// Where CPU time went that was not the program's work: the reasons of docs/explanation/report.md, in its order.
enum class Loss : uint8_t {
  serial,           // one thread worked outside of all regions, or in a single, masked or critical region alone
  imbalance,        // others had no more work while members of the region still worked
  synchronisation,  // waits for locks, critical regions, ordered iterations
  overhead,         // in the runtime: regions begun and ended, chunks dealt out, tasks made
  few_threads,      // the region had fewer members than there are CPUs
  transfer,         // nobody worked since messages of other processes were awaited
  blocked,          // a thread that should have worked was asleep in the system, or others had its CPU
};
inline constexpr const char* kLossWords[] = {"serial",      "imbalance", "synchronisation", "overhead",
                                             "few_threads", "transfer",  "blocked"};
inline constexpr int kLosses = std::size(kLossWords);

static_assert(std::size(kKindWords) == static_cast<size_t>(Kind::call) + 1);
static_assert(std::size(kScheduleWords) == static_cast<size_t>(Schedule::guided) + 1);
static_assert(std::size(kLossWords) == static_cast<size_t>(Loss::blocked) + 1);

constexpr const char* word_of(Kind kind) noexcept { return kKindWords[static_cast<size_t>(kind)]; }
constexpr const char* word_of(Schedule schedule) noexcept { return kScheduleWords[static_cast<size_t>(schedule)]; }
constexpr const char* word_of(Loss loss) noexcept { return kLossWords[static_cast<size_t>(loss)]; }

// The number of `word` in `words`; -1: it is none of them.
template <size_t Count>
constexpr int number_of_word(const char* const (&words)[Count], std::string_view word) noexcept {
  for (size_t i = 0; i < Count; ++i) {
    if (word == words[i]) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace weft::observe
