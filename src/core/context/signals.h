// SPDX-License-Identifier: Apache-2.0
// Signals to one thread (pthread_kill and its kin). Their handlers run as the context that has the thread's identity,
// on its stack, and at once, whether a carrier runs it or it is suspended: who stops threads to look at their stacks,
// as garbage collectors do, waits for each of them. core/README.md has the protocol. Internal to core; others send by
// core/context/send_signal.h.
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
  // Release: who sees that it has gone on sees on which carrier.
  std::atomic_ref(self->departure).store(departure, std::memory_order_release);
}

// `self` is about to leave its carrier. Signals that have been sent to it there arrive before.
inline void begin_to_leave(Context* self, Departure departure) noexcept {
  note_departure(self, departure);
  order_before_sender();
  if (__builtin_expect(self->attention.load(std::memory_order_relaxed) != 0, 0)) settle(self, departure);
}

// It has gone on.
inline void go_on(Context* self) noexcept {
  note_departure(self, Departure::none);
  order_before_sender();
  if (__builtin_expect(self->attention.load(std::memory_order_relaxed) != 0, 0)) read_letters(self);
}

// `target` is to go on in place of `self`, which has begun to leave: a handler that stopped a thread between the two
// would keep the handlers of `target` from running. The caller has the right to let it go on. False: a donor runs its
// handlers, has that right now, and makes it ready behind them; or the target `ends`, and the caller keeps the right.
// Acquire: what handlers have done is seen.
inline bool occupy(Context* target, Context* self) noexcept {
  target->occupied.store(1, std::memory_order_relaxed);
  order_before_sender();
  return __builtin_expect(target->attention.load(std::memory_order_acquire) == 0, 1) || occupy_in_spite(target, self);
}

// It has been left, and its stack is complete.
inline void vacate(Context* left) noexcept {
  left->occupied.store(0, std::memory_order_release);
  order_before_sender();
  if (__builtin_expect(left->attention.load(std::memory_order_relaxed) != 0, 0)) summon(left);
}

// ---- for others ----

// As the system call has them.
using SignalMask = uint64_t;
inline SignalMask set_signal_mask(SignalMask mask) noexcept {
  SignalMask before = 0;
  platform::system_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
  return before;
}

// To cancel a member is undefined in OpenMP, and its identity may be where libc does not look for it. The caller's does
// not hear of it unless the program says so.
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

// By `self`, which has begun to leave, where `target` could not be occupied, and the caller keeps the right to it:
// waits until it is occupied.
void await_target(Context* self, Context* target, Departure departure) noexcept;

// The same as occupy(), but the right stays with the caller, who runs no handlers. False: handlers run.
bool occupy_now(Context* context) noexcept;

// Whether the caller is a handler that a parked thread runs as a suspended context: on no carrier, so that nothing of
// the scheduler may be called.
bool runs_handlers_of_another() noexcept;

// The identity begins to be `context`, which its own OS thread runs.
void begin_signals(Context* context) noexcept;
// It is to end with its thread, and nobody runs it: from now on signals stay in the box, and no handler runs.
void end_signals(Context* context) noexcept;
// Nobody finds it by the caller, its thread, any more: what lies in the box comes to the OS thread. A sender that comes
// later finds that too.
void forward_letters(Context* ended) noexcept;
// A parked thread is one as others are from now on, while its thread-local objects end.
void open_to_signals() noexcept;

}  // namespace weft::core
