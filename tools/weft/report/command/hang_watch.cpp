// SPDX-License-Identifier: Apache-2.0
#include "report/command/hang_watch.h"

#include <optional>

#include <unistd.h>

#include "base/message.h"
#include "descendants.h"
#include "process_stat.h"
#include "threads/look.h"
#include "threads/running_process.h"

namespace weft::tools::report {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{500};
// Programs wait for files, people and each other. So one that goes on not to is asked ever more seldom.
constexpr std::chrono::seconds kPatience{1};
constexpr int kMorePatience = 2;
// What weft's own threads use of a CPU in a process that does nothing.
constexpr double kIdle = 0.02;

int program_on_weft() {
  std::string several;
  const int process = meant_process(getpid(), RunningProcess::can_be_asked, &several);
  return process != getpid() ? process : 0;
}

}  // namespace

std::vector<std::string> deadlock_of(int process) {
  std::string fault;
  const std::optional<threads::Picture> picture = threads::look_at_process(process, &fault);
  return picture ? threads::deadlock_lines(*picture) : std::vector<std::string>();
}

void HangWatch::look() {
  const Clock::time_point now = Clock::now();
  if (now - seen_ < kBetweenLooks) return;
  const double passed = std::chrono::duration<double>(now - seen_).count();
  seen_ = now;
  ProcessStat stat;
  const bool is_new = process_ == 0 || !read_process_stat(process_, stat);
  if (is_new) {
    process_ = program_on_weft();
    if (process_ == 0 || !read_process_stat(process_, stat)) return;
  }
  const bool goes_on = is_new || stat.used - used_ > kIdle * passed;
  used_ = stat.used;
  if (goes_on) {
    idle_since_ = now;
    patience_ = kPatience;
    deadlock_.clear();
    return;
  }
  if (now - idle_since_ < patience_ || !deadlock_.empty()) return;
  patience_ *= kMorePatience;
  ask();
  if (deadlock_.empty()) return;
  base::warn("report: the program hangs (process %d). Ctrl-C ends it; the report follows", process_);
  for (const std::string& line : deadlock_) base::warn("report: %s", line.c_str());
}

void HangWatch::look_now() {
  if (process_ == 0) process_ = program_on_weft();
  if (process_ != 0) ask();
}

// The answer costs the process some CPU time, which is no work of its own.
void HangWatch::ask() {
  deadlock_ = deadlock_of(process_);
  ProcessStat stat;
  if (read_process_stat(process_, stat)) used_ = stat.used;
  seen_ = Clock::now();
}

}  // namespace weft::tools::report
