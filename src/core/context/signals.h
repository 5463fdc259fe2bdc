// SPDX-License-Identifier: Apache-2.0
// Signals to one thread (pthread_kill and its kin). Their handlers run as the context that has the thread's identity,
// on its stack, and at once, whether a carrier runs the context or it is suspended: a garbage collector that stops
// threads to look at their stacks waits for each of them. core/README.md has the protocol. Internal to core; other
// layers send by core/context/send_signal.h.
#pragma once

#include <atomic>

#include <pthread.h>
#include <signal.h>

#include "core/context/context.h"
#include "platform/system_call.h"

namespace weft::core {

// ---- for switches: a load and a branch each; what they do beside that is rare ----

void settle(Context* self, Departure departure) noexcept;
void read_letters(Context* self) noexcept;
void summon(Context* context) noexcept;
bool occupy_in_spite(Context* target, Context* self) noexcept;

// The sender of a signal makes all threads pass a fence (platform/asymmetric_fence.h) between its store and its load.
inline void order_before_sender() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

inline void note_departure(Context* self, Departure departure) noexcept {
  // Release: a sender that sees that the context has gone on sees on which carrier.
  std::atomic_ref(self->departure).store(departure, std::memory_order_release);
}

// `self` is about to leave its carrier. Signals that have been sent to it there arrive before.
inline void begin_to_leave(Context* self, Departure departure) noexcept {
  note_departure(self, departure);
  order_before_sender();
  if (__builtin_expect(self->attention.load(std::memory_order_relaxed) != 0, 0)) settle(self, departure);
}

// `self` has gone on, on its carrier.
inline void go_on(Context* self) noexcept {
  note_departure(self, Departure::none);
  order_before_sender();
  if (__builtin_expect(self->attention.load(std::memory_order_relaxed) != 0, 0)) read_letters(self);
}

// Occupies `target`, which is to go on in place of `self`. `self` has begun to leave before: a handler that stopped the
// thread between the two would keep the handlers of `target` from running. The caller has the right to let `target` go
// on. Returns false where a donor runs handlers of `target`: the donor has that right now, and makes `target` ready
// after them; or where the target `ends`: then the caller keeps the right. Acquire: what handlers have done is seen.
inline bool occupy(Context* target, Context* self) noexcept {
  target->occupied.store(1, std::memory_order_relaxed);
  order_before_sender();
  return __builtin_expect(target->attention.load(std::memory_order_acquire) == 0, 1) || occupy_in_spite(target, self);
}

// The context has been left, and its stack is complete.
inline void vacate(Context* left) noexcept {
  left->occupied.store(0, std::memory_order_release);
  order_before_sender();
  if (__builtin_expect(left->attention.load(std::memory_order_relaxed) != 0, 0)) summon(left);
}

// ---- for other files ----

// A signal mask as the system call takes it.
using SignalMask = uint64_t;
inline SignalMask set_signal_mask(SignalMask mask) noexcept {
  SignalMask before = 0;
  platform::system_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
  return before;
}

// Refuses cancellation (pthread_cancel) for the caller's identity, until the program allows it. To cancel a member is
// undefined in OpenMP, and libc may not find the OS thread that runs the identity.
inline void refuse_cancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr); }

class SignalsBlocked {
 public:
  SignalsBlocked() noexcept : before_(set_signal_mask(~SignalMask{0})) {}
  ~SignalsBlocked() { set_signal_mask(before_); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  const SignalMask before_;
};

// Called by `self`, which has begun to leave, where `target` could not be occupied and the caller keeps the right to
// it: waits until it is occupied.
void await_target(Context* self, Context* target, Departure departure) noexcept;

// The same as occupy(), but the right stays with the caller, which runs no handlers. Returns false while handlers run.
bool occupy_now(Context* context) noexcept;

// Whether the caller is a handler that a parked thread runs as a suspended context: on no carrier, so that nothing of
// the scheduler may be called.
bool runs_handlers_of_another() noexcept;

// From now on the caller's identity is `context`, which its own OS thread runs.
void begin_signals(Context* context) noexcept;
// The context is to end with its thread, and no carrier runs it: from now on signals stay in the box, and no handler
// runs.
void end_signals(Context* context) noexcept;
// Called by the thread of the context when senders do not find the context any more: sends the signals in the box to
// the OS thread. A sender that comes later does the same.
void forward_letters(Context* ended) noexcept;
// From now on a parked thread gets signals as other threads do, while its thread-local objects end.
void open_to_signals() noexcept;

}  // namespace weft::core
