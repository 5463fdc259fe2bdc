// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/thread_calls.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "core/api/budget.h"
#include "core/api/fork.h"
#include "core/api/thread.h"
#include "openmp/affinity/affinity.h"
#include "openmp/team/caller_binding.h"
#include "platform/cpu_set.h"
#include "platform/libc_calls.h"
#include "platform/small_file.h"

namespace weft::openmp {

namespace {

using core::Context;
using core::OwnSettings;
using platform::CpuSet;

// libc's.
int (*g_sched_setaffinity)(pid_t, size_t, const cpu_set_t*);
int (*g_sched_getaffinity)(pid_t, size_t, cpu_set_t*);
int (*g_pthread_setaffinity_np)(pthread_t, size_t, const cpu_set_t*);
int (*g_pthread_getaffinity_np)(pthread_t, size_t, cpu_set_t*);
int (*g_sched_setscheduler)(pid_t, int, const sched_param*);
int (*g_sched_getscheduler)(pid_t);
int (*g_sched_setparam)(pid_t, const sched_param*);
int (*g_sched_getparam)(pid_t, sched_param*);
int (*g_pthread_setschedparam)(pthread_t, int, const sched_param*);
int (*g_pthread_getschedparam)(pthread_t, int*, sched_param*);
int (*g_pthread_setschedprio)(pthread_t, int);
int (*g_setpriority)(int, id_t, int);
int (*g_getpriority)(int, id_t);
int (*g_nice)(int);
int (*g_prctl)(int, unsigned long, unsigned long, unsigned long, unsigned long);
int (*g_pthread_setname_np)(pthread_t, const char*);
int (*g_pthread_getname_np)(pthread_t, char*, size_t);
int (*g_pthread_getattr_np)(pthread_t, pthread_attr_t*);
int (*g_clock_gettime)(clockid_t, timespec*);
int (*g_pthread_getcpuclockid)(pthread_t, clockid_t*);
int (*g_getrusage)(int, rusage*);

// ---- who calls ----

// Null: the caller is a thread that has nothing to do with the pool; or one of a child that has been made past libc, or
// that has not become another program yet, and shares its parent's memory.
Context* caller_in_pool() noexcept {
  Context* self = core::current_context();
  return self->carrier != nullptr && core::thread_id() == syscall(SYS_gettid) ? self : nullptr;
}

bool is_member(const Context* self) noexcept { return self != nullptr && self->home == nullptr; }

Context* member() noexcept {
  Context* self = caller_in_pool();
  return is_member(self) ? self : nullptr;
}

Context* member_as(pthread_t thread) noexcept {
  return pthread_equal(thread, pthread_self()) != 0 ? member() : nullptr;
}

// A member knows itself by the number of the OS thread that runs it, and by that of its identity.
bool means(const Context* self, pid_t thread) noexcept {
  return thread == 0 || thread == self->thread_id || thread == static_cast<pid_t>(syscall(SYS_gettid));
}

Context* member_as(pid_t thread) noexcept {
  Context* self = member();
  return self != nullptr && means(self, thread) ? self : nullptr;
}

// Of another member, whose identity has no OS thread. Of one with a parked OS thread the kernel is asked: what is set
// for that has no effect on the member, and what is got is what threads begin with.
bool lacks_thread(pthread_t thread) noexcept {
  return core::started() && pthread_equal(thread, pthread_self()) == 0 && core::lacks_thread(thread);
}

// Whom the kernel is to be asked about. A root's own OS thread may not be the one that runs it.
pid_t number_of(pid_t thread) noexcept {
  const Context* self = caller_in_pool();
  return self != nullptr && !is_member(self) && means(self, thread) ? self->thread_id : thread;
}

OwnSettings* settings_of(Context* self) noexcept {
  // Release: others may read a name in it.
  if (self->own == nullptr) std::atomic_ref(self->own).store(new (std::nothrow) OwnSettings, std::memory_order_release);
  if (self->own == nullptr) errno = ENOMEM;
  return self->own;
}

// The functions of pthreads answer with the number.
int error_of(int result) noexcept { return result == 0 ? 0 : errno; }
template <class Call>
int as_pthread(Call&& call) noexcept {
  const base::KeepErrno keep;
  return error_of(call());
}

// ---- affinity ----

// The caller had best run there. False: it may run anywhere.
bool prefer(const CpuSet& cpus) noexcept {
  if (!(cpus == affinity().process)) return bind_caller(cpus);
  unbind_caller();
  return true;
}

// The kernel says what becomes of a mask when it is set; the OS thread is there to ask it with.
int set_cpus(Context* self, size_t size, const cpu_set_t* cpus) noexcept {
  OwnSettings* own = settings_of(self);
  if (own == nullptr) return -1;
  const CpuSet before = platform::thread_cpus();
  if (g_sched_setaffinity(0, size, cpus) != 0) return -1;
  own->cpus = platform::thread_cpus();
  own->has_cpus = true;
  core::protect_workers(&affinity().process);
  // A member with a worker's identity has that worker for itself most of the time. A root's OS thread is the root's.
  if (self->donated || !core::runs_on_worker() || !prefer(own->cpus)) platform::bind_thread(before);
  return 0;
}

// What the kernel says, or `chosen` in place of it, if there is one.
int get_cpus(pid_t thread, const CpuSet* chosen, size_t size, cpu_set_t* cpus) noexcept {
  const int result = g_sched_getaffinity(thread, size, cpus);
  if (result != 0 || chosen == nullptr) return result;
  std::memset(cpus, 0, size);
  std::memcpy(cpus, chosen->data(), std::min(size, CpuSet::kBytes));
  return 0;
}

int get_cpus(const Context* self, size_t size, cpu_set_t* cpus) noexcept {
  return get_cpus(0, self->own != nullptr && self->own->has_cpus ? &self->own->cpus : nullptr, size, cpus);
}

// Of a caller that is a root and runs elsewhere; null: the kernel knows.
const CpuSet* chosen_by_root(const Context* self) noexcept {
  const bool is_away = self != nullptr && self->home != nullptr && self->carrier != self->home;
  return is_away && self->own != nullptr && self->own->has_thread_cpus ? &self->own->thread_cpus : nullptr;
}

// A root has chosen where its OS thread is, at home. Other members that run there may be anywhere, and so may threads
// of the pool that it makes from now on.
void note_mask_of_root(Context* self) noexcept {
  if (OwnSettings* own = settings_of(self)) {
    g_sched_getaffinity(self->thread_id, CpuSet::kBytes, static_cast<cpu_set_t*>(own->thread_cpus.data()));
    own->has_thread_cpus = true;
  }
  if (!core::started() || affinity().on || core::runs_on_worker()) return;
  prefer(platform::thread_cpus());
}

int our_sched_setaffinity(pid_t thread, size_t size, const cpu_set_t* cpus) {
  if (Context* self = member_as(thread)) return set_cpus(self, size, cpus);
  Context* self = caller_in_pool();
  const int result = g_sched_setaffinity(number_of(thread), size, cpus);
  if (result == 0 && self != nullptr && means(self, thread)) note_mask_of_root(self);
  return result;
}

int our_sched_getaffinity(pid_t thread, size_t size, cpu_set_t* cpus) {
  if (const Context* self = member_as(thread)) return get_cpus(self, size, cpus);
  const Context* self = caller_in_pool();
  const CpuSet* chosen = self != nullptr && means(self, thread) ? chosen_by_root(self) : nullptr;
  return get_cpus(number_of(thread), chosen, size, cpus);
}

int our_pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t* cpus) {
  Context* self = member_as(thread);
  if (self != nullptr) return as_pthread([=] { return set_cpus(self, size, cpus); });
  if (lacks_thread(thread)) return 0;
  const int error = g_pthread_setaffinity_np(thread, size, cpus);
  if (error != 0 || pthread_equal(thread, pthread_self()) == 0) return error;
  self = caller_in_pool();
  if (self != nullptr) note_mask_of_root(self);
  return 0;
}

int our_pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t* cpus) {
  const Context* self = member_as(thread);
  if (self != nullptr) return as_pthread([=] { return get_cpus(self, size, cpus); });
  if (lacks_thread(thread)) return as_pthread([=] { return get_cpus(0, &affinity().process, size, cpus); });
  const CpuSet* chosen = pthread_equal(thread, pthread_self()) != 0 ? chosen_by_root(caller_in_pool()) : nullptr;
  if (chosen == nullptr) return g_pthread_getaffinity_np(thread, size, cpus);
  return as_pthread([=] { return get_cpus(0, chosen, size, cpus); });
}

// ---- scheduling and niceness ----

struct Scheduling {
  int policy = SCHED_OTHER;
  int priority = 0;
};

Scheduling scheduling_of(const Context* self) noexcept {
  if (self->own != nullptr && self->own->has_scheduling) return {self->own->policy, self->own->priority};
  sched_param now{};
  g_sched_getparam(0, &now);
  return {g_sched_getscheduler(0), now.sched_priority};
}

int niceness_of(const Context* self) noexcept {
  return self->own != nullptr && self->own->has_nice ? self->own->nice : g_getpriority(PRIO_PROCESS, 0);
}

// Whether the kernel allows a change depends on what is in force. A thread that is what the member has made of itself
// tries it, and ends.
struct Trial {
  const OwnSettings* from;
  bool of_niceness;
  int policy;
  int priority;
  int nice;
  int error = 0;
};

void* run_trial(void* argument) noexcept {
  auto* trial = static_cast<Trial*>(argument);
  const OwnSettings* from = trial->from;
  if (from->has_nice) g_setpriority(PRIO_PROCESS, 0, from->nice);
  sched_param parameters{};
  parameters.sched_priority = from->priority;
  if (from->has_scheduling) g_sched_setscheduler(0, from->policy, &parameters);
  parameters.sched_priority = trial->priority;
  const int result = trial->of_niceness ? g_setpriority(PRIO_PROCESS, 0, trial->nice)
                                        : g_sched_setscheduler(0, trial->policy, &parameters);
  trial->error = result == 0 ? 0 : errno;
  return nullptr;
}

int try_out(Trial& trial) noexcept {
  sigset_t all;
  sigset_t previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  constexpr size_t kStack = 64u << 10;
  pthread_attr_setstacksize(&attributes, kStack + static_cast<size_t>(sysconf(_SC_THREAD_STACK_MIN)));
  pthread_t thread;
  const int refused = pthread_create(&thread, &attributes, run_trial, &trial);
  if (refused == 0) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  const int error = refused != 0 ? EPERM : trial.error;
  if (error != 0) errno = error;
  return error == 0 ? 0 : -1;
}

int set_scheduling(Context* self, int policy, const sched_param* parameters) noexcept {
  if (parameters == nullptr) {
    errno = EINVAL;
    return -1;
  }
  OwnSettings* own = settings_of(self);
  if (own == nullptr) return -1;
  Trial trial{.from = own, .of_niceness = false, .policy = policy, .priority = parameters->sched_priority, .nice = 0};
  if (try_out(trial) != 0) return -1;
  own->has_scheduling = true;
  own->policy = policy;
  own->priority = parameters->sched_priority;
  return 0;
}

int set_niceness(Context* self, int nice) noexcept {
  constexpr int kLowest = -20;
  constexpr int kHighest = 19;
  OwnSettings* own = settings_of(self);
  if (own == nullptr) return -1;
  nice = std::clamp(nice, kLowest, kHighest);
  Trial trial{.from = own, .of_niceness = true, .policy = 0, .priority = 0, .nice = nice};
  if (try_out(trial) != 0) return -1;
  own->has_nice = true;
  own->nice = nice;
  return 0;
}

int our_sched_setscheduler(pid_t thread, int policy, const sched_param* parameters) {
  if (Context* self = member_as(thread)) return set_scheduling(self, policy, parameters);
  return g_sched_setscheduler(number_of(thread), policy, parameters);
}

int our_sched_getscheduler(pid_t thread) {
  if (const Context* self = member_as(thread)) return scheduling_of(self).policy;
  return g_sched_getscheduler(number_of(thread));
}

int our_sched_setparam(pid_t thread, const sched_param* parameters) {
  if (Context* self = member_as(thread)) return set_scheduling(self, scheduling_of(self).policy, parameters);
  return g_sched_setparam(number_of(thread), parameters);
}

int our_sched_getparam(pid_t thread, sched_param* parameters) {
  const Context* self = member_as(thread);
  if (self == nullptr || parameters == nullptr) return g_sched_getparam(number_of(thread), parameters);
  parameters->sched_priority = scheduling_of(self).priority;
  return 0;
}

int our_pthread_setschedparam(pthread_t thread, int policy, const sched_param* parameters) {
  Context* self = member_as(thread);
  if (lacks_thread(thread)) return sched_get_priority_min(policy) < 0 ? EINVAL : 0;
  if (self == nullptr) return g_pthread_setschedparam(thread, policy, parameters);
  return as_pthread([=] { return set_scheduling(self, policy, parameters); });
}

int our_pthread_getschedparam(pthread_t thread, int* policy, sched_param* parameters) {
  const Context* self = member_as(thread);
  const bool lacks = lacks_thread(thread);
  if (self == nullptr && !lacks) return g_pthread_getschedparam(thread, policy, parameters);
  const Scheduling now = lacks ? Scheduling{} : scheduling_of(self);
  *policy = now.policy;
  parameters->sched_priority = now.priority;
  return 0;
}

int our_pthread_setschedprio(pthread_t thread, int priority) {
  Context* self = member_as(thread);
  if (lacks_thread(thread)) return 0;
  if (self == nullptr) return g_pthread_setschedprio(thread, priority);
  sched_param wanted{};
  wanted.sched_priority = priority;
  return as_pthread([&] { return set_scheduling(self, scheduling_of(self).policy, &wanted); });
}

int our_setpriority(int which, id_t who, int nice) {
  Context* self = which == PRIO_PROCESS ? member_as(static_cast<pid_t>(who)) : nullptr;
  if (self != nullptr) return set_niceness(self, nice);
  return g_setpriority(which, which == PRIO_PROCESS ? static_cast<id_t>(number_of(static_cast<pid_t>(who))) : who,
                       nice);
}

int our_getpriority(int which, id_t who) {
  const Context* self = which == PRIO_PROCESS ? member_as(static_cast<pid_t>(who)) : nullptr;
  if (self != nullptr) return niceness_of(self);
  return g_getpriority(which, which == PRIO_PROCESS ? static_cast<id_t>(number_of(static_cast<pid_t>(who))) : who);
}

// As libc's: the answer is the new niceness, which may be -1.
int our_nice(int more) {
  Context* self = member();
  if (self == nullptr) return g_nice(more);
  constexpr int kMost = 100;  // beyond all sums that differ
  if (set_niceness(self, niceness_of(self) + std::clamp(more, -kMost, kMost)) == 0) return self->own->nice;
  if (errno == EACCES) errno = EPERM;
  return -1;
}

// ---- names: those of the OS threads that the identities belong to, which tools show ----

constexpr size_t kNameRoom = 16;

using NamePath = char[48];
void name_path(NamePath& path, const Context* context) noexcept {
  if (core::lacks_thread(context)) {
    std::snprintf(path, sizeof path, "/proc/self/comm");
  } else {
    std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", context->thread_id);
  }
}

bool write_name(Context* self, const char* name) noexcept {
  if (core::lacks_thread(self)) {
    OwnSettings* own = settings_of(self);
    if (own == nullptr) return false;
    std::memset(own->name, 0, sizeof own->name);
    std::memcpy(own->name, name, strnlen(name, kNameRoom - 1));
    own->has_name = true;
    return true;
  }
  NamePath path;
  name_path(path, self);
  const base::KeepErrno keep;
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const size_t length = strnlen(name, kNameRoom - 1);
  const bool written = write(file, name, length) == static_cast<ssize_t>(length);
  close(file);
  return written;
}

bool read_name(Context* context, char (&name)[kNameRoom]) noexcept {
  // Acquire pairs with settings_of(): the context may be another one than the caller's.
  const OwnSettings* own = std::atomic_ref(context->own).load(std::memory_order_acquire);
  if (core::lacks_thread(context) && own != nullptr && own->has_name) {
    std::memcpy(name, own->name, sizeof name);
    return true;
  }
  NamePath path;
  name_path(path, context);
  char line[kNameRoom + 1];
  const base::KeepErrno keep;
  if (!platform::read_small_file(path, line, sizeof line)) return false;
  line[strcspn(line, "\n")] = '\0';
  std::memset(name, 0, sizeof name);
  std::memcpy(name, line, strnlen(line, kNameRoom - 1));
  return true;
}

int our_pthread_setname_np(pthread_t thread, const char* name) {
  Context* self = member_as(thread);
  if (lacks_thread(thread)) return strnlen(name, kNameRoom) == kNameRoom ? ERANGE : 0;
  if (self == nullptr) return g_pthread_setname_np(thread, name);
  if (strnlen(name, kNameRoom) == kNameRoom) return ERANGE;
  return write_name(self, name) ? 0 : g_pthread_setname_np(thread, name);
}

int our_pthread_getname_np(pthread_t thread, char* name, size_t room) {
  Context* context = lacks_thread(thread) ? core::context_of(thread) : member_as(thread);
  char now[kNameRoom];
  if (context == nullptr || room < kNameRoom || !read_name(context, now))
    return g_pthread_getname_np(thread, name, room);
  std::memcpy(name, now, sizeof now);
  return 0;
}

// ---- stacks ----

// libc asks the kernel for the CPUs of the thread too, and tells nothing where there is none of that number. A
// sanitizer asks for the stack of a thread of which it has no state yet.
__attribute__((no_sanitize("address", "thread"))) int our_pthread_getattr_np(pthread_t thread,
                                                                             pthread_attr_t* attributes) {
  void* lowest = nullptr;
  size_t size = 0;
  if (!core::stack_without_thread(thread, lowest, size)) return g_pthread_getattr_np(thread, attributes);
  int error = pthread_attr_init(attributes);
  if (error == 0) error = pthread_attr_setstack(attributes, lowest, size);
  if (error == 0) error = pthread_attr_setguardsize(attributes, core::kGuardSize);
  const CpuSet& cpus = affinity().process;
  return error != 0
             ? error
             : pthread_attr_setaffinity_np(attributes, CpuSet::kBytes, static_cast<const cpu_set_t*>(cpus.data()));
}

// ---- prctl ----

int of_member(Context* self, int option, unsigned long value) noexcept {
  OwnSettings* own = self->own;
  switch (option) {
    case PR_SET_NAME:
      return write_name(self, reinterpret_cast<const char*>(value)) ? 0 : g_prctl(option, value, 0, 0, 0);
    case PR_GET_NAME: {
      char now[kNameRoom];
      if (!read_name(self, now)) return g_prctl(option, value, 0, 0, 0);
      std::memcpy(reinterpret_cast<char*>(value), now, sizeof now);
      return 0;
    }
    case PR_SET_TIMERSLACK:
      own = settings_of(self);
      if (own == nullptr) return -1;
      own->slack_ns = value;
      own->has_slack = value > 0;  // 0: the default again
      return 0;
    default:  // PR_GET_TIMERSLACK
      return own != nullptr && own->has_slack ? static_cast<int>(own->slack_ns) : g_prctl(option, 0, 0, 0, 0);
  }
}

int our_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  const bool of_thread =
      option == PR_SET_NAME || option == PR_GET_NAME || option == PR_SET_TIMERSLACK || option == PR_GET_TIMERSLACK;
  Context* self = of_thread ? member() : nullptr;
  return self != nullptr ? of_member(self, option, a) : g_prctl(option, a, b, c, d);
}

// ---- CPU time ----

int our_clock_gettime(clockid_t clock, timespec* time) {
  if (__builtin_expect(clock == CLOCK_THREAD_CPUTIME_ID, 0)) {
    if (caller_in_pool() != nullptr) {
      const int64_t ns = core::own_cpu_time();
      constexpr int64_t kSecond = 1'000'000'000;
      *time = {.tv_sec = ns / kSecond, .tv_nsec = ns % kSecond};
      return 0;
    }
  }
  return g_clock_gettime(clock, time);
}

// The clock of an OS thread would say how long the parked one has run. The member itself may ask by this name too.
int our_pthread_getcpuclockid(pthread_t thread, clockid_t* clock) {
  if (lacks_thread(thread)) return ENOENT;
  if (member_as(thread) == nullptr) return g_pthread_getcpuclockid(thread, clock);
  *clock = CLOCK_THREAD_CPUTIME_ID;
  return 0;
}

// How much of its time a member has spent in the kernel nobody knows. What else is counted is the OS thread's.
int our_getrusage(int who, rusage* usage) {
  const int result = g_getrusage(who, usage);
  if (result != 0 || who != RUSAGE_THREAD || member() == nullptr) return result;
  constexpr int64_t kMicrosecond = 1'000;
  constexpr int64_t kSecond = 1'000'000;
  const int64_t us = core::own_cpu_time() / kMicrosecond;
  usage->ru_utime = {.tv_sec = us / kSecond, .tv_usec = us % kSecond};
  usage->ru_stime = {};
  return 0;
}

}  // namespace

platform::LibcCalls thread_calls() noexcept {
#define WEFT_TAKE(name) platform::to_ours(#name, our_##name, &g_##name)
  static const platform::LibcCall calls[] = {
      WEFT_TAKE(sched_setaffinity),
      WEFT_TAKE(sched_getaffinity),
      WEFT_TAKE(pthread_setaffinity_np),
      WEFT_TAKE(pthread_getaffinity_np),
      WEFT_TAKE(sched_setscheduler),
      WEFT_TAKE(sched_getscheduler),
      WEFT_TAKE(sched_setparam),
      WEFT_TAKE(sched_getparam),
      WEFT_TAKE(pthread_setschedparam),
      WEFT_TAKE(pthread_getschedparam),
      WEFT_TAKE(pthread_setschedprio),
      WEFT_TAKE(setpriority),
      WEFT_TAKE(getpriority),
      WEFT_TAKE(nice),
      WEFT_TAKE(prctl),
      WEFT_TAKE(pthread_setname_np),
      WEFT_TAKE(pthread_getname_np),
      WEFT_TAKE(pthread_getattr_np),
      WEFT_TAKE(clock_gettime),
      WEFT_TAKE(pthread_getcpuclockid),
      WEFT_TAKE(getrusage),
  };
#undef WEFT_TAKE
  return calls;
}

}  // namespace weft::openmp
