// SPDX-License-Identifier: Apache-2.0
// Functions that take libc's place in the whole process: for the program on the machine they act on the machine, and
// otherwise as libc's do.
#include "timed/libc.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "timed/timed.h"

namespace weft::scale {

namespace {

Time time_of(const timespec& time) { return (int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec) * kNanosecond; }

std::bitset<kMostCpus> cpus_of(const cpu_set_t* mask, size_t size) {
  std::bitset<kMostCpus> cpus;
  for (int cpu = 0; cpu < running()->cpus(); ++cpu) {
    if (CPU_ISSET_S(static_cast<size_t>(cpu), size, mask)) cpus.set(static_cast<size_t>(cpu));
  }
  return cpus;
}

// What a file of /proc or /sys holds on the machine. `handled`: no other file is meant, and there may be none.
bool text_of(const std::string& path, std::string& text, bool& handled) {
  const Timed& machine = *running();
  handled = path.starts_with("/sys/") || path.starts_with("/proc/self/cgroup") || path == "/proc/loadavg" ||
            path.starts_with("/proc/self/task/");
  pid_t number = 0;
  char name[32];
  if (std::sscanf(path.c_str(), "/proc/self/task/%d/%31s", &number, name) == 2) {
    const Thread* thread = machine.thread(number);
    if (thread == nullptr || thread->state == Thread::State::ended) return false;
    const bool sleeps = thread->state == Thread::State::sleeping;
    if (std::strcmp(name, "stat") == 0) {
      constexpr int kFieldsUntilCpu = 35;
      text = std::to_string(number) + (sleeps ? " (scale) S" : " (scale) R");
      for (int i = 0; i < kFieldsUntilCpu; ++i) text += " 0";
      text += " " + std::to_string(thread->cpu) + " 0 0\n";
      return true;
    }
    if (std::strcmp(name, "schedstat") == 0) {
      text = std::to_string(Timed::cpu_time(*thread) / kNanosecond) + " " +
             std::to_string(thread->waited / kNanosecond) + " 1\n";
      return true;
    }
    return false;
  }
  if (path == "/proc/loadavg") {
    text = "0.00 0.00 0.00 " + std::to_string(machine.running_threads()) + "/1000 1\n";
    return true;
  }
  return machine.model().system_file(path, text);
}

int file_with(const std::string& text) {
  const int file = memfd_create("scale", MFD_CLOEXEC);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return file;
  lseek(file, 0, SEEK_SET);
  return file;
}

}  // namespace

}  // namespace weft::scale

using namespace weft::scale;

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  if (running() == nullptr) return REAL(pthread_create)(handle, attributes, start, argument);
  return running()->create(handle, attributes, start, argument);
}

int pthread_join(pthread_t handle, void** result) {
  if (running() == nullptr) return REAL(pthread_join)(handle, result);
  running()->join(handle, true);
  return 0;
}

int pthread_tryjoin_np(pthread_t handle, void** result) noexcept {
  if (running() == nullptr) return REAL(pthread_tryjoin_np)(handle, result);
  return running()->join(handle, false) ? 0 : EBUSY;
}

int usleep(useconds_t us) {
  if (running() == nullptr) return REAL(usleep)(us);
  running()->sleep(Time{us} * kMicrosecond);
  return 0;
}

int nanosleep(const timespec* time, timespec* rest) {
  if (running() == nullptr) return REAL(nanosleep)(time, rest);
  running()->sleep(time_of(*time));
  return 0;
}

int sched_getcpu() noexcept { return running() == nullptr ? REAL(sched_getcpu)() : running()->current().cpu; }

int getcpu(unsigned* cpu, unsigned* node) noexcept {
  if (running() == nullptr) return REAL(getcpu)(cpu, node);
  const int mine = running()->current().cpu;
  if (cpu != nullptr) *cpu = static_cast<unsigned>(mine);
  if (node != nullptr) *node = static_cast<unsigned>(running()->model().node(mine));
  running()->spend(running()->costs().clock);
  return 0;
}

long sysconf(int name) noexcept {
  if (running() != nullptr && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF))
    return running()->model().cpus();
  return REAL(sysconf)(name);
}

int sched_getaffinity(pid_t thread, size_t size, cpu_set_t* mask) noexcept {
  if (running() == nullptr) return REAL(sched_getaffinity)(thread, size, mask);
  running()->system_call();
  CPU_ZERO_S(size, mask);
  for (int cpu = 0; cpu < running()->cpus(); ++cpu) {
    if (running()->current().allowed.test(static_cast<size_t>(cpu))) CPU_SET_S(static_cast<size_t>(cpu), size, mask);
  }
  return 0;
}

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t* mask) noexcept {
  if (running() == nullptr) return REAL(sched_setaffinity)(thread, size, mask);
  running()->bind(cpus_of(mask, size));
  return 0;
}

int pthread_setaffinity_np(pthread_t handle, size_t size, const cpu_set_t* mask) noexcept {
  if (running() == nullptr) return REAL(pthread_setaffinity_np)(handle, size, mask);
  running()->bind(handle, cpus_of(mask, size));
  return 0;
}

long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long words[6];
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  if (running() != nullptr) {
    switch (number) {
      case SYS_gettid: return running()->current().number;
      // The fence of others: their CPUs are interrupted.
      case SYS_membarrier: running()->spend(2 * kMicrosecond); return 0;
      case SYS_rseq:
      case SYS_sched_getattr:
      case SYS_sched_setattr: errno = ENOSYS; return -1;
      case SYS_futex: return running()->futex_has_sleeper(reinterpret_cast<const void*>(words[0])) ? 1 : 0;
      default: break;
    }
  }
  return REAL(syscall)(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  if (running() != nullptr) {
    std::string text;
    bool handled = false;
    const bool there = text_of(path, text, handled);
    if (handled) running()->spend(running()->costs().small_file);
    if (there) return file_with(text);
    if (handled) {
      errno = ENOENT;
      return -1;
    }
  }
  return REAL(open)(path, flags, mode);
}

DIR* opendir(const char* path) {
  if (running() != nullptr && std::strncmp(path, "/proc/self/task", 15) == 0) {
    errno = ENOENT;
    return nullptr;
  }
  return REAL(opendir)(path);
}

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
