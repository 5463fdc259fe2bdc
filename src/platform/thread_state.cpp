// SPDX-License-Identifier: Apache-2.0
#include "platform/thread_state.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/small_file.h"

namespace weft::platform {

namespace {

// What /proc says of a thread from its state on, or null; `text` has `room` bytes. The state follows the command's
// name, which stands in parentheses and may hold any character.
const char* read_stat(pid_t id, char* text, size_t room) noexcept {
  std::snprintf(text, room, "/proc/self/task/%d/stat", id);
  const int file = open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  const ssize_t size = read(file, text, room - 1);
  close(file);
  if (size <= 0) return nullptr;
  text[size] = '\0';
  const char* end = std::strrchr(text, ')');
  return end != nullptr && end[1] == ' ' ? end + 2 : nullptr;
}

}  // namespace

ThreadState thread_state(pid_t id) noexcept {
  char text[256];
  const char* state = read_stat(id, text, sizeof text);
  if (state == nullptr) return ThreadState::unknown;
  if (*state == 'Z' || *state == 'X') return ThreadState::ended;
  return *state == 'S' || *state == 'D' ? ThreadState::sleeping : ThreadState::running;
}

int running_threads() noexcept {
  DIR* threads = opendir("/proc/self/task");
  if (threads == nullptr) return 0;
  int count = 0;
  while (const dirent* entry = readdir(threads)) {
    const int id = std::atoi(entry->d_name);
    count += id > 0 && thread_state(id) == ThreadState::running ? 1 : 0;
  }
  closedir(threads);
  return count;
}

int runnable_threads_of_machine() noexcept {
  char text[128];
  int runnable = 0;
  // proc(5): three averages, then what is runnable now.
  if (!read_small_file("/proc/loadavg", text, sizeof text) || std::sscanf(text, "%*s %*s %*s %d/", &runnable) != 1) {
    return 0;
  }
  return runnable;
}

int cpus_of_machine() noexcept {
  // Relaxed: the first thread asks the system, and all get the same answer.
  static constinit std::atomic<long> cpus{0};
  if (cpus.load(std::memory_order_relaxed) == 0) {
    cpus.store(sysconf(_SC_NPROCESSORS_ONLN), std::memory_order_relaxed);
  }
  return static_cast<int>(cpus.load(std::memory_order_relaxed));
}

bool has_cpu_to_spare() noexcept {
  const int runnable = runnable_threads_of_machine();
  return runnable > 0 && runnable <= cpus_of_machine();
}

bool run_times(pid_t id, RunTimes& times) noexcept {
  char path[64];
  char text[128];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", id);
  long long ran = 0;
  long long waited = 0;
  if (!read_small_file(path, text, sizeof text) || std::sscanf(text, "%lld %lld", &ran, &waited) != 2) return false;
  times = {.ran_ns = ran, .waited_ns = waited};
  return true;
}

int cpu_of_thread(pid_t id) noexcept {
  char text[1024];
  const char* at = read_stat(id, text, sizeof text);
  // proc(5): the state is field 3, the CPU field 39.
  constexpr int kFieldsBetween = 36;
  if (at == nullptr || *at != 'R') return -1;
  for (int i = 0; i < kFieldsBetween && at != nullptr; ++i) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  return at != nullptr ? std::atoi(at) : -1;
}

uintptr_t awaited_pi_lock(pid_t id) noexcept {
  char path[64];
  char text[256];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/syscall", id);
  long number = 0;
  unsigned long word = 0;
  unsigned long operation = 0;
  // "running", or the number of the call and its arguments; not every kernel is built to say.
  if (!read_small_file(path, text, sizeof text) || std::sscanf(text, "%ld %lx %lx", &number, &word, &operation) != 3) {
    return 0;
  }
  constexpr unsigned long kLockPi2 = 13;  // FUTEX_LOCK_PI2, which older headers lack
  const unsigned long command = operation & static_cast<unsigned long>(FUTEX_CMD_MASK);
  return number == SYS_futex && (command == FUTEX_LOCK_PI || command == kLockPi2) ? word : 0;
}

}  // namespace weft::platform
