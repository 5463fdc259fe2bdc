// SPDX-License-Identifier: Apache-2.0
#include "core/context/context.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>

#include "core/context/signals.h"
#include "platform/thread_pointer.h"

namespace weft::core {

namespace {

void (*g_identity_begins)(pid_t thread) = nullptr;  // written once, before the first pool

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

thread_local Context* t_self = nullptr;
thread_local Context t_adopted;

DepartureHandler g_departed = nullptr;  // written once, before the first context departs

// Where the left context continues is known only once it has been left, so its successor notes it. It takes signals
// again before it looks after the left one: that may need a lock, whose holder may have been stopped by a handler.
void arrive(transfer_t from) noexcept {
  Context* self = t_self;
  self->occupied.load(std::memory_order_acquire);
  auto* left = static_cast<Context*>(from.data);
  left->stack_pointer = from.fctx;
  const Departure departure = left->departure;
  vacate(left);
  go_on(self);
  if (departure != Departure::elsewhere) g_departed(left);
}

// Identity first, then the stack: between the two no thread-local object may be touched, not by the
// sanitizers' instrumentation either.
__attribute__((no_sanitize("address", "undefined", "thread"))) transfer_t leave(Context* self, void* stack_pointer,
                                                                                uintptr_t thread_pointer) noexcept {
  platform::set_thread_pointer(thread_pointer);
  return jump_fcontext(stack_pointer, self);
}

void live(transfer_t from) {
  arrive(from);
  const Context* self = t_self;
  for (;;) switch_to(self->entry(self->argument));
}

}  // namespace

Context* current_context() noexcept {
  if (__builtin_expect(t_self == nullptr, 0)) bind_identity(&t_adopted);
  return t_self;
}

// Cold, so that its system call costs the function above no registers.
void set_identity_begin(void (*beginning)(pid_t thread)) noexcept { g_identity_begins = beginning; }

[[gnu::cold, gnu::noinline]] void bind_identity(Context* context) noexcept {
  Context* const before = t_self;
  if (context != nullptr) {
    context->thread_pointer = platform::thread_pointer();
    context->thread_id = static_cast<pid_t>(syscall(SYS_gettid));
    begin_signals(context);
    if (g_identity_begins != nullptr) g_identity_begins(context->thread_id);
  }
  t_self = context;
  if (context == nullptr && before != nullptr) forward_letters(before);
}

void number_identity(pid_t thread) noexcept {
  t_self->thread_id = thread;
  if (g_identity_begins != nullptr) g_identity_begins(thread);
}

Context* own_context() noexcept { return t_self; }

// Each thread has its word at the same place, seen from its pthread_t. None is written while others look: a thread that
// comes to be a carrier, or ceases to, is none to them or one whose signals are its OS thread's anyway.
__attribute__((no_sanitize("address", "undefined", "thread"))) Context* context_of(pthread_t thread) noexcept {
  const auto distance = reinterpret_cast<uintptr_t>(&t_self) - pthread_self();
  return *reinterpret_cast<Context* volatile*>(thread + distance);
}

void switch_to(Context* target) noexcept {
  Context* self = current_context();
  begin_to_leave(self, Departure::elsewhere);
  if (!occupy_now(target)) await_target(self, target, Departure::elsewhere);
  switch_between(self, target);
}

void switch_between(Context* self, Context* target) noexcept {
  target->carrier = self->carrier;
  // Read before the hand-over: afterwards the target's fields are its own.
  void* const stack_pointer = target->stack_pointer;
  const uintptr_t thread_pointer = target->thread_pointer;
  target->occupied.store(1, std::memory_order_release);
  arrive(leave(self, stack_pointer, thread_pointer));
}

void set_departure_handler(DepartureHandler handler) noexcept { g_departed = handler; }

void prepare(Context* context, Entry entry, void* argument) noexcept {
  context->entry = entry;
  context->argument = argument;
}

void make_idle(Context* context, void* stack_top) noexcept {
  // The size only matters to implementations that fill the stack; this one takes the top alone.
  context->stack_pointer = make_fcontext(stack_top, 0, live);
  context->departure = Departure::elsewhere;
  context->occupied.store(0, std::memory_order_release);
}

}  // namespace weft::core
