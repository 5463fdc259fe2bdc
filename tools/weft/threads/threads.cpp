// SPDX-License-Identifier: Apache-2.0
#include "threads/threads.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/message.h"
#include "exit_codes.h"
#include "report_file.h"
#include "threads/deadlock.h"
#include "threads/inspector.h"
#include "threads/picture.h"
#include "threads/stacks.h"
#include "threads/thread_table.h"

namespace weft::tools {

namespace {

// What has not changed between two looks stands still.
constexpr std::chrono::milliseconds kBetweenLooks{300};

// From where a thread begins to the function that waits.
constexpr size_t kLeastFrames = 3;

std::string program_of(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::unique_ptr<threads::Stacks> stacks_of([[maybe_unused]] Inspector& process, [[maybe_unused]] int number) {
#ifdef WEFT_HAS_LIBDW
  return threads::read_stacks(process, number);
#else
  return nullptr;
#endif
}

bool has_tasks(const threads::Table& table, const threads::Thread& thread) {
  return std::any_of(table.teams.begin(), table.teams.end(), [&](const threads::Team& team) {
    return !thread.teams.empty() && team.team == thread.teams.front().team && team.tasked;
  });
}

// What the stacks tell that the records do not. Members of a region wait for each other alike at its end and at
// barriers inside, and members that have come to the end still have their team.
void refine_by_stacks(threads::Picture& picture) {
  std::vector<threads::Thread> kept;
  std::vector<std::vector<threads::Frame>> stacks;
  for (size_t i = 0; i < picture.stacks.size(); ++i) {
    threads::Thread& thread = picture.table.threads[i];
    const std::vector<threads::Frame>& stack = picture.stacks[i];
    using threads::Waits;
    const bool is_unknown = thread.wait.what == Waits::not_at_all || thread.wait.what == Waits::system;
    if (thread.context != 0 && is_unknown && threads::is_in_runtime(stack)) {
      // It waits for something to do.
      if (threads::frame_of_program(stack) == nullptr) continue;
      thread.state = threads::State::waits;
      thread.wait = {.what = Waits::pool};
    }
    const std::string called = threads::called_of_runtime(stack);
    const auto has = [&](const char* word) { return called.find(word) != std::string::npos; };
    const bool opens_region = has("GOMP_parallel") || has("fork_call") || has("GOMP_teams") || has("fork_teams");
    // The end of a region with tasks looks like a barrier to the records. Its caller need not be on the stack: it may
    // have called the barrier as its last deed.
    const bool may_be_end =
        thread.wait.what == Waits::pool || (thread.wait.what == Waits::barrier && has_tasks(picture.table, thread) &&
                                            !threads::has_function(stack, "pass_barrier"));
    if (opens_region && may_be_end && !thread.teams.empty()) {
      thread.wait = {.what = Waits::region_end, .object = thread.teams.front().team};
    } else if (thread.wait.what == Waits::barrier) {
      thread.wait.is_sure = !stack.empty();
    }
    kept.push_back(std::move(thread));
    stacks.push_back(stack);
  }
  picture.table.threads = std::move(kept);
  picture.stacks = std::move(stacks);
}

}  // namespace

int show_threads(const ThreadsOptions& options) {
  ReportFile json("threads", "--json", options.json);
  if (!json.good()) return kFailed;
  std::string fault;
  const auto process = Inspector::connect(options.process, &fault);
  if (process == nullptr) {
    base::warn("threads: process %d: %s", options.process, fault.c_str());
    return kFailed;
  }
  const threads::Table earlier = threads::read_table(*process, options.process);
  std::this_thread::sleep_for(kBetweenLooks);
  threads::Picture picture{.process = options.process,
                           .program = program_of(options.process),
                           .table = {},
                           .diagnosis = {},
                           .stacks = {},
                           .regions = {},
                           .reads_stacks = false};
  picture.table = threads::read_table(*process, options.process);
  if (!earlier.is_valid || !picture.table.is_valid) {
    base::warn("threads: process %d has ended, or answers no more", options.process);
    return kFailed;
  }
  const std::unique_ptr<threads::Stacks> stacks = stacks_of(*process, options.process);
  picture.reads_stacks = stacks != nullptr;
  for (const threads::Thread& thread : picture.table.threads) {
    std::vector<threads::Frame> frames;
    if (stacks != nullptr) frames = stacks->frames(thread.registers);
    // A thread that has gone on meanwhile has left its stack to something else.
    if (frames.size() < kLeastFrames) frames.clear();
    picture.stacks.push_back(std::move(frames));
  }
  if (stacks != nullptr) {
    for (threads::Team& team : picture.table.teams) {
      if (team.function != 0) picture.regions[team.team] = stacks->place(team.function);
    }
  }
  const threads::Table seen = picture.table;
  refine_by_stacks(picture);
  const std::vector<bool> still = threads::those_that_stand_still(earlier, seen, picture.table);
  picture.diagnosis = threads::diagnose(picture.table, still);
  if (!options.json.empty() && !json.write(as_json(picture))) return kFailed;
  if (options.json != "-") std::fputs(as_text(picture, options.stacks).c_str(), stdout);
  return 0;
}

}  // namespace weft::tools
