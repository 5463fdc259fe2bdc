// SPDX-License-Identifier: Apache-2.0
#include "platform/process.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "platform/cycles.h"
#include "platform/small_file.h"

namespace weft::platform {

namespace {

struct Stat {
  bool known = false;
  bool ended = false;  // and only waits to be collected
  uint64_t start = 0;
  int threads = 0;
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
  return {.known = true,
          .ended = ended && threads <= 1,
          .start = std::strtoull(at, nullptr, 10),
          .threads = static_cast<int>(threads)};
}

// A number for what /proc/self/ns/`name` stands for; 0 when the kernel does not say.
uint64_t own_namespace(const char* name) noexcept {
  char path[48];
  struct stat space{};
  std::snprintf(path, sizeof path, "/proc/self/ns/%s", name);
  return stat(path, &space) == 0 ? space.st_ino : 0;
}

// A number for the clock by which starts are told. Kernels without time namespaces have one clock for all.
uint64_t own_clock() noexcept {
  const uint64_t space = own_namespace("time");
  return space != 0 || errno != ENOENT ? space : 1;
}

// Whether the numbers in /proc are those that the caller's system calls know. What is mounted there may show the
// processes of an outer namespace; then it has more than one number for the caller.
bool proc_is_own() noexcept {
  char text[2048];
  if (!read_small_file("/proc/self/status", text, sizeof text)) return false;
  constexpr char kNumbers[] = "\nNSpid:\t";
  const char* numbers = std::strstr(text, kNumbers);
  if (numbers == nullptr) return false;
  char* end = nullptr;
  return std::strtol(numbers + sizeof kNumbers - 1, &end, 10) == getpid() && *end == '\n';
}

class PidFd {
 public:
  explicit PidFd(pid_t pid) noexcept
      : number_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))), error_(number_ < 0 ? errno : 0) {}
  ~PidFd() {
    if (number_ >= 0) close(number_);
  }
  PidFd(const PidFd&) = delete;
  PidFd& operator=(const PidFd&) = delete;

  bool opened() const noexcept { return number_ >= 0; }
  int error() const noexcept { return error_; }
  bool has_ended() const noexcept {
    pollfd look{number_, POLLIN, 0};
    return poll(&look, 1, 0) == 1 && (look.revents & POLLIN) != 0;
  }
  // Before Linux 6.9 all of them have the same.
  uint64_t inode() const noexcept {
    constexpr long kPidFs = 0x50494446;
    struct statfs system{};
    struct stat found{};
    const bool own = fstatfs(number_, &system) == 0 && static_cast<long>(system.f_type) == kPidFs;
    return own && fstat(number_, &found) == 0 ? found.st_ino : 0;
  }

 private:
  const int number_;
  const int error_;
};

}  // namespace

ProcessId own_process_id() noexcept {
  ProcessId self{.pid = getpid()};
  if (const PidFd handle(self.pid); handle.opened()) self.inode = handle.inode();
  if (proc_is_own()) {
    self.start = process_start(self.pid);
    self.clock = own_clock();
  }
  return self;
}

bool process_has_ended(const ProcessId& process) noexcept {
  if (process.pid <= 0) return false;
  if (kill(process.pid, 0) != 0 && errno == ESRCH) return true;
  const PidFd handle(process.pid);
  if (!handle.opened() && handle.error() == ESRCH) return true;
  if (handle.opened()) {
    if (handle.has_ended()) return true;
    const uint64_t inode = handle.inode();
    if (inode != 0 && process.inode != 0) return inode != process.inode;
  }
  // What cannot be read (no /proc, or no file may be opened any more) says nothing.
  if (process.clock == 0 || process.clock != own_clock() || !proc_is_own()) return false;
  const Stat stat = read_stat(process.pid);
  return stat.known && (stat.ended || (process.start != 0 && stat.start != process.start));
}

bool thread_has_ended(pid_t thread) noexcept {
  return thread > 0 && syscall(SYS_tkill, thread, 0) != 0 && errno == ESRCH;
}

uint64_t process_start(pid_t pid) noexcept {
  const Stat stat = read_stat(pid);
  return stat.ended ? 0 : stat.start;
}

int64_t process_cpu_time(pid_t pid) noexcept {
  clockid_t clock;
  return pid > 0 && clock_getcpuclockid(pid, &clock) == 0 ? clock_ns(clock) : 0;
}

int process_threads(pid_t pid) noexcept { return read_stat(pid).threads; }

bool process_runs(pid_t pid) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task", pid);
  DIR* const threads = pid > 0 && proc_is_own() ? opendir(path) : nullptr;
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

uint64_t pid_namespace() noexcept { return own_namespace("pid"); }

}  // namespace weft::platform
