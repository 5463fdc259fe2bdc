// SPDX-License-Identifier: Apache-2.0
#include "threads/look.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "threads/changed_files.h"
#include "threads/core_file.h"
#include "threads/inspector.h"
#include "threads/proc_reader.h"
#include "threads/proc_threads.h"
#include "threads/running_process.h"
#include "threads/stacks.h"
#include "threads/standstill.h"

namespace weft::tools::threads {

namespace {

// What has not changed between two looks stands still.
constexpr std::chrono::milliseconds kBetweenLooks{300};

// From where a thread begins to the function that waits.
constexpr size_t kLeastFrames = 3;

std::unique_ptr<Stacks> stacks_of([[maybe_unused]] Inspector& process) {
#ifdef WEFT_HAS_LIBDW
  return read_stacks(process);
#else
  return nullptr;
#endif
}

bool has_tasks(const Table& table, const Thread& thread) {
  return std::any_of(table.teams.begin(), table.teams.end(), [&](const Team& team) {
    return !thread.teams.empty() && team.team == thread.teams.front().team && team.tasked;
  });
}

// Whether the thread is a member that is done, and waits for the next region: it still has its team.
bool has_finished(const Table& table, const Thread& thread) {
  return thread.teams.empty() || std::any_of(table.teams.begin(), table.teams.end(), [&](const Team& team) {
           return team.team == thread.teams.front().team && team.finished.contains(thread.teams.front().number);
         });
}

// Whether the stack is that of a member that waits for the others at the end of a region. Functions of the runtime have
// names where it has its table of symbols.
bool waits_for_end(const std::vector<Frame>& stack) {
  return has_function(stack, "Region::end") || has_function(stack, "join_members") ||
         has_function(stack, "PersistentTeam::await");
}

// What the stack tells of the thread that the records do not. False: it waits for something to do.
bool refine(Thread& thread, const std::vector<Frame>& stack, const Table& table) {
  const bool is_unknown = thread.wait.what == Waits::not_at_all || thread.wait.what == Waits::system;
  if (thread.context != 0 && is_unknown && is_in_runtime(stack)) {
    if (frame_of_program(stack) == nullptr && has_finished(table, thread)) return false;
    thread.state = State::waits;
    thread.wait = {.what = Waits::pool};
  }
  // The service threads of weft's libraries.
  if (thread.context == 0 && !stack.empty() && frame_of_program(stack) == nullptr) return false;
  // What looks like a mutex may be somebody's own futex.
  if (thread.wait.what == Waits::mutex && !has_function(stack, "mutex_lock") && !has_function(stack, "lll_lock"))
    thread.wait = {.what = Waits::system};
  // The end of a region with tasks looks like a barrier to the records.
  const bool is_barrier = thread.wait.what == Waits::barrier;
  const bool may_be_end = is_barrier && has_tasks(table, thread) && !has_function(stack, "pass_barrier");
  if ((thread.wait.what == Waits::pool || may_be_end) && waits_for_end(stack) && !thread.teams.empty()) {
    thread.wait = {.what = Waits::region_end, .object = thread.teams.front().team};
  } else if (is_barrier) {
    thread.wait.is_sure = !stack.empty() && !may_be_end;
  }
  return true;
}

void refine_by_stacks(Picture& picture) {
  std::vector<Thread> kept;
  std::vector<std::vector<Frame>> stacks;
  for (size_t i = 0; i < picture.stacks.size(); ++i) {
    if (!refine(picture.table.threads[i], picture.stacks[i], picture.table)) continue;
    kept.push_back(std::move(picture.table.threads[i]));
    stacks.push_back(std::move(picture.stacks[i]));
  }
  picture.table.threads = std::move(kept);
  picture.stacks = std::move(stacks);
}

std::optional<Picture> look_at(Inspector& process, std::string* fault) {
  const Table earlier = read_table(process);
  if (process.is_live()) std::this_thread::sleep_for(kBetweenLooks);
  Picture picture{.process = process.process(),
                  .subject = process.subject(),
                  .program = process.program(),
                  .is_live = process.is_live(),
                  .tells_calls_of_mpi = process.is_live() && tells_calls_of_mpi(process.process()),
                  .still = process.is_live() ? seconds_still(process.process()) : std::nullopt,
                  .table = {},
                  .diagnosis = {},
                  .stacks = {},
                  .regions = {},
                  .reads_stacks = false,
                  .changed = changed_files(process)};
  picture.table = process.is_live() ? read_table(process) : earlier;
  if (!earlier.is_valid || !picture.table.is_valid) {
    *fault = process.is_live() ? "it has ended, or answers no more" : "the records of weft are not in it";
    return std::nullopt;
  }
  const std::unique_ptr<Stacks> stacks = stacks_of(process);
  picture.reads_stacks = stacks != nullptr;
  for (const Thread& thread : picture.table.threads) {
    std::vector<Frame> frames;
    if (stacks != nullptr) frames = stacks->frames(thread.registers);
    // A thread that has gone on meanwhile has left its stack to something else.
    if (frames.size() < kLeastFrames && process.is_live()) frames.clear();
    picture.stacks.push_back(std::move(frames));
  }
  if (stacks != nullptr) {
    for (Team& team : picture.table.teams) {
      if (team.function != 0) picture.regions[team.team] = stacks->place(team.function);
    }
  }
  const Table seen = picture.table;
  refine_by_stacks(picture);
  picture.diagnosis = diagnose(picture.table, those_that_stand_still(earlier, seen, picture.table));
  return picture;
}

}  // namespace

std::optional<Picture> look_at_process(int number, std::string* fault) {
  if (!RunningProcess::can_be_asked(number) && ProcReader::can_be_read(number)) {
    *fault = RunningProcess::why_stopped(number);
    if (!fault->empty()) return std::nullopt;
    ProcReader process(number);
    std::optional<Picture> picture = look_at(process, fault);
    if (picture) picture->view = ProcReader::is_on_weft(number) ? View::outside : View::not_on_weft;
    return picture;
  }
  const auto process = RunningProcess::connect(number, fault);
  return process != nullptr ? look_at(*process, fault) : std::nullopt;
}

std::optional<Picture> look_at_core(const std::string& file, std::string* fault) {
  const auto process = CoreFile::open(file, fault);
  if (process == nullptr) return std::nullopt;
  std::optional<Picture> picture = look_at(*process, fault);
  if (picture) {
    picture->signal = process->signal();
    picture->signalled = process->signalled();
    picture->overflowed = process->overflowed(&picture->on_initial_stack);
  }
  return picture;
}

}  // namespace weft::tools::threads
