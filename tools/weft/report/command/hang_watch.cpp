// SPDX-License-Identifier: Apache-2.0
#include "report/command/hang_watch.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <signal.h>
#include <unistd.h>

#include "base/message.h"
#include "descendants.h"
#include "process_stat.h"
#include "threads/look.h"
#include "threads/running_process.h"

namespace weft::tools::report {

namespace {

constexpr std::chrono::seconds kBetweenLooks{1};
// Programs wait for files, people and each other. So one that goes on not to is asked ever more seldom.
constexpr std::chrono::seconds kPatience{1};
constexpr std::chrono::seconds kMostPatience{16};
// Of a CPU. The system counts by hundredths of a second.
constexpr double kIdle = 0.02;

int program_on_weft() {
  std::string several;
  const int process = meant_process(getpid(), RunningProcess::can_be_asked, &several);
  return several.empty() && process != getpid() ? process : 0;
}

// CPU seconds of all threads but weft's own services, which work beside a program that stands still. Below 0: the
// process has ended.
double used_by_program(int process) {
  double used = -1;
  std::error_code error;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    std::getline(file, name);
    ProcessStat stat;
    if (name.starts_with("weft-") || !read_stat(task.path() / "stat", stat)) continue;
    used = std::max(used, 0.0) + stat.used;
  }
  return used;
}

}  // namespace

std::optional<std::vector<std::string>> deadlock_of(int process) {
  // The process comes to an address that this one's number names: one question at a time.
  static std::mutex asking;
  const std::lock_guard lock(asking);
  std::string fault;
  const std::optional<threads::Picture> picture = threads::look_at_process(process, &fault);
  return picture ? std::optional(threads::deadlock_lines(*picture)) : std::nullopt;
}

HangWatch::~HangWatch() { end(); }

void HangWatch::begin() {
  if (thread_.joinable() || ended_) return;
  // Signals are the other thread's.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void HangWatch::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ends_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Hang HangWatch::known() {
  const std::lock_guard lock(mutex_);
  return hang_;
}

void HangWatch::ask_now() {
  const int process = program_on_weft();
  const auto found = process != 0 ? deadlock_of(process) : std::nullopt;
  const std::lock_guard lock(mutex_);
  if (found) hang_.deadlock = *found;
}

void HangWatch::watch() {
  // By the clock of the day: glibc 2.28 waits by no other.
  const auto next = [] { return std::chrono::system_clock::now() + kBetweenLooks; };
  std::unique_lock lock(mutex_);
  while (!ends_.wait_until(lock, next(), [this] { return ended_; })) {
    lock.unlock();
    look();
    lock.lock();
  }
}

void HangWatch::look() {
  const Clock::time_point now = Clock::now();
  const double passed = std::chrono::duration<double>(now - seen_).count();
  double used = process_ != 0 ? used_by_program(process_) : -1;
  const bool is_new = used < 0;
  if (is_new) {
    process_ = program_on_weft();
    used = process_ != 0 ? used_by_program(process_) : -1;
    if (used < 0) return;
  }
  const bool goes_on = is_new || used - used_ > kIdle * passed;
  used_ = used;
  seen_ = now;
  if (goes_on) {
    idle_since_ = now;
    patience_ = kPatience;
    const bool hung = !known().deadlock.empty();
    if (!hung) next_ask_ = now + patience_;
    if (!hung || now < next_ask_) return;
    // It has come out of it, or the rest of it goes on: no question disturbs that often.
    ask();
    next_ask_ = Clock::now() + kMostPatience;
  } else if (now >= next_ask_) {
    ask();
    patience_ = std::min<Clock::duration>(2 * patience_, kMostPatience);
    next_ask_ = Clock::now() + patience_;
  }
}

void HangWatch::ask() {
  const auto found = deadlock_of(process_);
  if (!found) return;
  const double idle = std::chrono::duration<double>(Clock::now() - idle_since_).count();
  const std::lock_guard lock(mutex_);
  const bool is_news = !found->empty() && hang_.deadlock.empty();
  hang_ = {.deadlock = *found, .seconds = idle};
  if (ended_ || !is_news) return;
  base::warn("report: the program hangs (process %d). Ctrl-C ends it; the report follows", process_);
  for (const std::string& line : *found) base::warn("report: %s", line.c_str());
}

}  // namespace weft::tools::report
