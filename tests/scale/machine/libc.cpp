// SPDX-License-Identifier: Apache-2.0
// Functions that take libc's place in the whole process: for the program on the machine they act on the machine, and
// otherwise as libc's do.
#include "machine/libc.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "machine/machine.h"
#include "platform/rseq.h"

namespace weft::machine {

namespace {

template <class Function>
Function real(const char* name, Function& kept) {
  if (kept == nullptr) kept = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  return kept;
}

using Syscall = long (*)(long, ...);
Syscall g_syscall = nullptr;

Time time_of(const timespec& time) { return (int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec) * kNanosecond; }

void put(Time time, timespec& into) {
  const int64_t ns = time / kNanosecond;
  into = {ns / 1'000'000'000, ns % 1'000'000'000};
}

std::bitset<kMostCpus> cpus_of(const cpu_set_t* mask, size_t size) {
  std::bitset<kMostCpus> cpus;
  for (int cpu = 0; cpu < g_machine->cpus(); ++cpu) {
    if (CPU_ISSET_S(static_cast<size_t>(cpu), size, mask)) cpus.set(static_cast<size_t>(cpu));
  }
  return cpus;
}

// What a file of /proc or /sys holds on the machine. `handled`: no other file is meant, and there may be none.
bool text_of(const std::string& path, std::string& text, bool& handled) {
  const Machine& machine = *g_machine;
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
      Time ran = thread->ran;
      if (thread->state == Thread::State::running) ran += thread->clock - thread->on_cpu_since;
      text = std::to_string(ran / kNanosecond) + " " + std::to_string(thread->waited / kNanosecond) + " 1\n";
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

namespace libc {

int real_pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static int (*kept)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) = nullptr;
  return real("pthread_create", kept)(handle, attributes, start, argument);
}

long real_syscall(long number, const void* word, long operation, long value, const void* limit) {
  return real("syscall", g_syscall)(number, word, operation, value, limit, nullptr, 0);
}

void leave_rseq() { platform::leave_rseq(); }

}  // namespace libc

}  // namespace weft::machine

using namespace weft::machine;

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  if (g_machine == nullptr) return libc::real_pthread_create(handle, attributes, start, argument);
  return g_machine->create(handle, attributes, start, argument);
}

int pthread_join(pthread_t handle, void** result) {
  static int (*kept)(pthread_t, void**) = nullptr;
  if (g_machine == nullptr) return real("pthread_join", kept)(handle, result);
  g_machine->join(handle, true);
  return 0;
}

int pthread_tryjoin_np(pthread_t handle, void** result) noexcept {
  static int (*kept)(pthread_t, void**) noexcept = nullptr;
  if (g_machine == nullptr) return real("pthread_tryjoin_np", kept)(handle, result);
  return g_machine->join(handle, false) ? 0 : EBUSY;
}

int sched_yield() noexcept {
  static int (*kept)() noexcept = nullptr;
  if (g_machine == nullptr) return real("sched_yield", kept)();
  g_machine->yield();
  return 0;
}

int usleep(useconds_t us) {
  static int (*kept)(useconds_t) = nullptr;
  if (g_machine == nullptr) return real("usleep", kept)(us);
  g_machine->sleep(Time{us} * kMicrosecond);
  return 0;
}

int nanosleep(const timespec* time, timespec* rest) {
  static int (*kept)(const timespec*, timespec*) = nullptr;
  if (g_machine == nullptr) return real("nanosleep", kept)(time, rest);
  g_machine->sleep(time_of(*time));
  return 0;
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static int (*kept)(clockid_t, timespec*) noexcept = nullptr;
  if (g_machine == nullptr) return real("clock_gettime", kept)(clock, time);
  Machine& machine = *g_machine;
  machine.spend(machine.costs().clock);
  // It has run for a while.
  constexpr Time kSinceBoot = 1000 * 1000 * kMillisecond;
  if (clock == CLOCK_PROCESS_CPUTIME_ID) {
    put(machine.cpu_time(), *time);
  } else if (clock < 0) {
    const Thread* thread = machine.thread(static_cast<pid_t>(~static_cast<unsigned>(clock) >> 3));
    if (thread == nullptr) return -1;
    const bool runs = thread->state == Thread::State::running;
    put(thread->ran + (runs ? thread->clock - thread->on_cpu_since : 0), *time);
  } else {
    put(machine.now() + kSinceBoot, *time);
  }
  return 0;
}

int sched_getcpu() noexcept {
  static int (*kept)() noexcept = nullptr;
  return g_machine == nullptr ? real("sched_getcpu", kept)() : g_machine->current().cpu;
}

int getcpu(unsigned* cpu, unsigned* node) noexcept {
  static int (*kept)(unsigned*, unsigned*) noexcept = nullptr;
  if (g_machine == nullptr) return real("getcpu", kept)(cpu, node);
  const int mine = g_machine->current().cpu;
  if (cpu != nullptr) *cpu = static_cast<unsigned>(mine);
  if (node != nullptr) *node = static_cast<unsigned>(g_machine->model().node(mine));
  g_machine->spend(g_machine->costs().clock);
  return 0;
}

long sysconf(int name) noexcept {
  static long (*kept)(int) noexcept = nullptr;
  if (g_machine != nullptr && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF))
    return g_machine->model().cpus();
  return real("sysconf", kept)(name);
}

int sched_getaffinity(pid_t thread, size_t size, cpu_set_t* mask) noexcept {
  static int (*kept)(pid_t, size_t, cpu_set_t*) noexcept = nullptr;
  if (g_machine == nullptr) return real("sched_getaffinity", kept)(thread, size, mask);
  g_machine->system_call();
  CPU_ZERO_S(size, mask);
  for (int cpu = 0; cpu < g_machine->cpus(); ++cpu) {
    if (g_machine->current().allowed.test(static_cast<size_t>(cpu))) CPU_SET_S(static_cast<size_t>(cpu), size, mask);
  }
  return 0;
}

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t* mask) noexcept {
  static int (*kept)(pid_t, size_t, const cpu_set_t*) noexcept = nullptr;
  if (g_machine == nullptr) return real("sched_setaffinity", kept)(thread, size, mask);
  g_machine->bind(cpus_of(mask, size));
  return 0;
}

int pthread_setaffinity_np(pthread_t handle, size_t size, const cpu_set_t* mask) noexcept {
  static int (*kept)(pthread_t, size_t, const cpu_set_t*) noexcept = nullptr;
  if (g_machine == nullptr) return real("pthread_setaffinity_np", kept)(handle, size, mask);
  g_machine->bind(handle, cpus_of(mask, size));
  return 0;
}

long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long words[6];
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  if (g_machine != nullptr) {
    switch (number) {
      case SYS_gettid: return g_machine->current().number;
      // The fence of others: their CPUs are interrupted.
      case SYS_membarrier: g_machine->spend(2 * kMicrosecond); return 0;
      case SYS_rseq:
      case SYS_sched_getattr:
      case SYS_sched_setattr: errno = ENOSYS; return -1;
      case SYS_futex: return g_machine->futex_has_sleeper(reinterpret_cast<const void*>(words[0])) ? 1 : 0;
      default: break;
    }
  }
  return real("syscall", g_syscall)(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

int open(const char* path, int flags, ...) {
  static int (*kept)(const char*, int, ...) = nullptr;
  va_list list;
  va_start(list, flags);
  const int mode = (flags & O_CREAT) != 0 ? va_arg(list, int) : 0;
  va_end(list);
  if (g_machine != nullptr) {
    std::string text;
    bool handled = false;
    const bool there = text_of(path, text, handled);
    if (handled) g_machine->spend(g_machine->costs().small_file);
    if (there) return file_with(text);
    if (handled) {
      errno = ENOENT;
      return -1;
    }
  }
  return real("open", kept)(path, flags, mode);
}

DIR* opendir(const char* path) {
  static DIR* (*kept)(const char*) = nullptr;
  if (g_machine != nullptr && std::strncmp(path, "/proc/self/task", 15) == 0) {
    errno = ENOENT;
    return nullptr;
  }
  return real("opendir", kept)(path);
}

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
