// SPDX-License-Identifier: Apache-2.0
#include "platform/process.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>

#include "platform/cycles.h"
#include "platform/small_file.h"

namespace weft::platform {

namespace {

struct Stat {
  bool known = false;
  bool ended = false;  // and only waits to be collected
  uint64_t start = 0;
};

Stat read_stat(pid_t pid) noexcept {
  char path[48];
  char text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  if (!read_small_file(path, text, sizeof text)) return {};
  // The command's name stands in parentheses and may hold any character.
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at[1] != ' ') return {};
  at += 2;
  const bool ended = *at == 'Z' || *at == 'X';
  // proc(5): the state is field 3, the number of threads field 20, the start field 22.
  constexpr int kThreads = 20 - 3;
  constexpr int kStart = 22 - 3;
  long threads = 0;
  for (int field = 0; field < kStart; ++field) {
    if (field == kThreads) threads = std::strtol(at, nullptr, 10);
    at = std::strchr(at, ' ');
    if (at == nullptr) return {};
    ++at;
  }
  // Where only the initial thread has ended, the process goes on with the others.
  return {.known = true, .ended = ended && threads <= 1, .start = std::strtoull(at, nullptr, 10)};
}

}  // namespace

uint64_t process_start(pid_t pid) noexcept {
  const Stat stat = read_stat(pid);
  return stat.ended ? 0 : stat.start;
}

bool process_has_ended(pid_t pid, uint64_t start) noexcept {
  if (kill(pid, 0) != 0 && errno == ESRCH) return true;
  // What cannot be read (no /proc, or no file may be opened any more) says nothing.
  const Stat stat = read_stat(pid);
  return stat.known && (stat.ended || (start != 0 && stat.start != start));
}

int64_t process_cpu_time(pid_t pid) noexcept {
  clockid_t clock;
  return clock_getcpuclockid(pid, &clock) == 0 ? clock_ns(clock) : 0;
}

bool process_runs(pid_t pid) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR* const threads = opendir(path);
  if (threads == nullptr) return false;
  bool runs = false;
  while (const dirent* entry = readdir(threads)) {
    char text[512];
    const int id = std::atoi(entry->d_name);
    std::snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, id);
    if (id <= 0 || !read_small_file(path, text, sizeof text)) continue;
    const char* const end = std::strrchr(text, ')');
    runs = runs || (end != nullptr && end[1] == ' ' && end[2] == 'R');
  }
  closedir(threads);
  return runs;
}

void command_name(char* text, size_t room) noexcept {
  if (!read_small_file("/proc/self/comm", text, room)) std::snprintf(text, room, "?");
  text[std::strcspn(text, "\n")] = '\0';
}

uint64_t pid_namespace() noexcept {
  struct stat space{};
  return stat("/proc/self/ns/pid", &space) == 0 ? space.st_ino : 0;
}

}  // namespace weft::platform
