// SPDX-License-Identifier: Apache-2.0
// A stack for handlers for each thread: a page of the stack that a thread runs on may be protected, where the program
// has made that stack itself, and the kernel must have somewhere to put the fault. The program does not see it: it has
// its own view of sigaltstack().
#include "numa/protect/threads.h"

#include <atomic>
#include <cstdlib>

#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "numa/collector/allocate.h"
#include "numa/collector/collector.h"
#include "numa/collector/real.h"
#include "numa/protect/guard.h"
#include "numa/protect/signals.h"
#include "platform/system_call.h"

namespace weft::numa {

namespace {

using platform::system_call;

constinit Real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> g_create{"pthread_create"};
constinit Real<int(const stack_t*, stack_t*)> g_sigaltstack{"sigaltstack"};

struct OfThread {
  stack_t ours;  // ss_sp null: none
  // What the program has given the thread, ss_sp null: nothing. It is in force, unless it is small: then ours is.
  stack_t own;
  bool own_is_small;
  Held held;
  LateFault late;
};
constinit thread_local OfThread t_this = {};

constinit std::atomic<bool> g_program_has_stacks{false};
pthread_key_t g_key;
bool g_has_key = false;

// Also enough for a handler of the program's that used to run on the thread's own stack.
size_t stack_size() noexcept {
  constexpr size_t kForHandlers = 256 << 10;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (kForHandlers + getauxval(AT_MINSIGSTKSZ) + page - 1) / page * page;
}

// Below the stack, so that a handler that needs more does not write elsewhere.
size_t fence_size() noexcept { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// A program that has given up system calls has no record.
void end_of_thread(void* of_thread) {
  auto* self = static_cast<OfThread*>(of_thread);
  while (self->held.count > 0) release_held(self->held.what[--self->held.count]);
  if (self->ours.ss_sp == nullptr || record() == nullptr) return;
  const stack_t none{nullptr, SS_DISABLE, 0};
  stack_t now{};
  if (system_call(SYS_sigaltstack, nullptr, &now) == 0 && now.ss_sp == self->ours.ss_sp) {
    system_call(SYS_sigaltstack, &none, nullptr);
  }
  system_call(SYS_munmap, static_cast<char*>(self->ours.ss_sp) - fence_size(), stack_size() + fence_size());
  self->ours.ss_sp = nullptr;
}

void take_handler_stack() noexcept {
  if (g_has_key) pthread_setspecific(g_key, &t_this);
  stack_t now{};
  if (system_call(SYS_sigaltstack, nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  const size_t bytes = stack_size();
  const size_t fence = fence_size();
  const long mapped = system_call(SYS_mmap, nullptr, fence + bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0L);
  if (mapped < 0) return;
  system_call(SYS_mprotect, mapped, fence, PROT_NONE);
  const stack_t ours{reinterpret_cast<char*>(mapped) + fence, 0, bytes};
  if (system_call(SYS_sigaltstack, &ours, nullptr) == 0) t_this.ours = ours;
}

struct Started {
  void* (*run)(void*);
  void* argument;
};

void* run_thread(void* argument) {
  const Started started = *static_cast<Started*>(argument);
  std::free(argument);
  take_handler_stack();
  return started.run(started.argument);
}

// The kernel puts a fault at a protected page on the stack that is in force, and the collector's handler runs there.
bool has_room(const stack_t& stack) noexcept {
  constexpr size_t kForOurs = 16 << 10;
  return stack.ss_size >= getauxval(AT_MINSIGSTKSZ) + kForOurs;
}

// Whether the thread's handlers can run on the collector's stack in place of a small one of the program's. One that is
// taken out of force while a handler runs lets the handler go to another stack and come back.
bool can_replace(const stack_t& stack) noexcept {
  constexpr unsigned kAutoDisarm = 1U << 31;
  return t_this.ours.ss_sp != nullptr && (static_cast<unsigned>(stack.ss_flags) & kAutoDisarm) == 0;
}

bool is_none(const stack_t& stack) noexcept { return (stack.ss_flags & SS_DISABLE) != 0; }

int set_stack(const stack_t* wanted, stack_t* old) noexcept {
  OfThread& self = t_this;
  // A child by vfork() has a stack of its own in the kernel, and the variables of its parent.
  if (self.ours.ss_sp == nullptr || !is_own_process()) return g_sigaltstack.get()(wanted, old);
  stack_t before{};
  if (g_sigaltstack.get()(nullptr, &before) != 0) return -1;
  if (self.own.ss_sp == nullptr) {
    before = {nullptr, SS_DISABLE, 0};
  } else if (self.own_is_small) {
    before = {self.own.ss_sp, before.ss_flags & SS_ONSTACK, self.own.ss_size};
  }
  if (wanted != nullptr) {
    // The kernel says whether it is one.
    if (g_sigaltstack.get()(is_none(*wanted) ? &self.ours : wanted, nullptr) != 0) return -1;
    self.own = is_none(*wanted) ? stack_t{} : *wanted;
    self.own_is_small = !is_none(*wanted) && !has_room(*wanted) && can_replace(*wanted);
    if (self.own_is_small) g_sigaltstack.get()(&self.ours, nullptr);
  }
  if (old != nullptr) *old = before;
  return 0;
}

}  // namespace

void start_handler_stacks() noexcept {
  g_has_key = pthread_key_create(&g_key, end_of_thread) == 0;
  take_handler_stack();
}

bool program_has_handler_stacks() noexcept { return g_program_has_stacks.load(); }

void note_held(int what) noexcept {
  Held& held = t_this.held;
  if (held.count < Held::kMost) held.what[held.count++] = static_cast<int16_t>(what);
}

// As a rule the last one.
void forget_held(int what) noexcept {
  Held& held = t_this.held;
  int at = held.count - 1;
  while (at >= 0 && held.what[at] != what) --at;
  if (at < 0) return;
  for (; at + 1 < held.count; ++at) held.what[at] = held.what[at + 1];
  --held.count;
}

LateFault& late_fault() noexcept { return t_this.late; }

}  // namespace weft::numa

using namespace weft::numa;

extern "C" {

[[gnu::visibility("default")]] int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                                  void* (*run)(void*), void* argument) noexcept {
  if (!guard_is_on()) return g_create.get()(thread, attributes, run, argument);
  auto* started = static_cast<Started*>(std::malloc(sizeof(Started)));
  if (started == nullptr) return g_create.get()(thread, attributes, run, argument);
  *started = {run, argument};
  int error = 0;
  {
    const InAllocator inside;
    error = g_create.get()(thread, attributes, run_thread, started);
  }
  if (error != 0) std::free(started);
  return error;
}

[[gnu::visibility("default")]] int sigaltstack(const stack_t* wanted, stack_t* old) noexcept {
  const bool sets = wanted != nullptr && !is_none(*wanted);
  if (guard_is_on() && sets) {
    exclude(reinterpret_cast<uintptr_t>(wanted->ss_sp), wanted->ss_size);
    if (!has_room(*wanted) && !can_replace(*wanted)) guard_stop(Stop::small_stack);
  }
  const int result = set_stack(wanted, old);
  if (result == 0 && sets && !g_program_has_stacks.exchange(true)) put_handlers_on_stacks();
  return result;
}

}  // extern "C"
