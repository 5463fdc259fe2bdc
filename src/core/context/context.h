// SPDX-License-Identifier: Apache-2.0
// A context: a stack and the thread identity that goes with it (core/README.md).
#pragma once

#include <atomic>
#include <cstdint>

#include <pthread.h>
#include <sys/types.h>

#include "core/context/attention.h"
#include "core/context/cpu_time.h"
#include "core/context/guest_part.h"

namespace weft::platform {
class CpuSet;
}

namespace weft::core {

struct Carrier;
struct Context;
struct OwnSettings;
struct ParallelCall;
class WaitQueue;

// What a context runs: called once with `argument` on the context's stack, under its identity. The
// context it returns is switched to next; the finished one is then idle and may be prepared again.
using Entry = Context* (*)(void* argument);

// What the successor has to do with a context that has just been left.
enum class Departure : uint8_t {
  none,   // it has not been left
  block,  // it waits for unblock()
  queue,  // it waits for its queue's release
  yield,  // it can go on at once, after others
  idle,   // it runs the scheduler's loop and has nothing to do: a free context
  elsewhere,  // nothing: somebody else knows where it is. So with one that has never run
};

// The token of block() and unblock().
struct Token {
  enum Value : uint32_t {
    none,       // running, nothing pending
    notified,   // unblock() came first; the next block() returns at once
    suspended,  // left, stack complete: unblock() makes it ready
    resting,  // waits in place as long as its carrier has nothing else to do: unblock() calls the carrier
    sleeping,  // waits in place on a futex, for want of a free context
    held,       // nobody runs it, and one thread alone may make it go on: unblock() meant an earlier wait, or life
  };
};

// What there is of a registration for restartable sequences that belongs to an identity (platform/rseq.h).
enum class Rseq : uint8_t {
  none,     // nothing that matters: no other OS thread's kernel side writes into its area
  held,     // a root's, which has not left its OS thread so far
  refused,  // the OS thread cannot leave it
};

struct Context {
  // ---- a cache line that each switch and each wait touches ----
  uintptr_t thread_pointer = 0;  // the identity; constant
  void* stack_pointer = nullptr;  // where to continue; meaningful only while nobody runs the context
  Context* next = nullptr;  // link of the list that holds it
  Carrier* carrier = nullptr;  // which runs it, or ran it last; re-read after every switch
  Carrier* home = nullptr;  // a root's own context runs on this carrier only
  Carrier* root = nullptr;  // the root whose work it does

  // 1: somebody runs it, or is about to; 0: its stack is complete (core/context/signals.h). Release by the context that
  // leaves, acquire by the context that continues: what was written before a switch is seen after it. On one OS thread
  // that is so anyway; this states it for ThreadSanitizer, to which the two are different threads.
  std::atomic<uint32_t> occupied{0};

  // Sequentially consistent throughout: unblock() must not miss a block() that missed its condition.
  std::atomic<uint32_t> token{Token::none};
  uint32_t ticket = 0;  // see `queue`
  // Written by the context itself. What sends it a signal looks at it too, by std::atomic_ref.
  Departure departure = Departure::none;
  Rseq rseq = Rseq::none;
  bool bodiless = false;  // only stands for a call: the free context that continues it runs `start` as itself
  std::atomic<uint8_t> attention{0};  // see Attention; looked at by each switch

  // ---- and one that most do ----
  Carrier* preferred = nullptr;  // where it had best continue, wherever it ran meanwhile; null: where it ran last
  const platform::CpuSet* cpus = nullptr;  // what it is bound to (core/sched/binding.h); null: nothing
  // Whose call it runs; null: something else. Written while it runs; relaxed, since others look at it while it waits.
  std::atomic<const ParallelCall*> parallel_call{nullptr};
  WaitQueue* queue = nullptr;  // where it waits, since the release `ticket`; for Departure::queue
  uint64_t last_parallel_call = 0;  // serial of the parallel call it served last
  ParallelCall* claimed = nullptr;  // a member handed over with the switch
  // What a free context is to run first when it continues: a call that needs this very context. Written
  // before the unblock() that makes it continue, cleared by the context itself.
  void (*start)(void* argument) = nullptr;
  int claimed_index = 0;
  uint32_t born = 0;  // the request of release_idle() that it followed (core/sched/release_idle.cpp)

  // ---- the rest ----
  void* start_argument = nullptr;
  // Where it waits in place. Relaxed: stored before the token says so, and a thread that reads it after it has
  // gone on wakes a carrier for nothing.
  std::atomic<Carrier*> rests_on{nullptr};
  Entry entry = nullptr;
  void* argument = nullptr;
  uintptr_t stack_end = 0;  // the lowest address of its stack, above the guard; 0: not one of ours
  pid_t thread_id = 0;  // of the OS thread whose identity that is
  // What it has set for itself (core/context/own_settings.h), kept with the record; null: nothing so far. Touched under
  // this identity.
  OwnSettings* own = nullptr;
  CpuTime cpu_time;
  bool pinned = false;  // it has bound itself, and is not unbound as long as it waits
  bool donated = false;  // by a parked thread. Else the identity of a thread that carries work itself
  bool ends = false;  // its thread is to end when it is back in the scheduler's loop
  // Inside a library whose threads are guests of the pool (core/budget/guests.h). Written under this identity; relaxed,
  // since others only count.
  std::atomic<GuestPart> guest_part{GuestPart::none};
  Signals signals;  // that it has been sent
};

// The context the caller runs under. An OS thread that has none yet gets one made of its own stack and
// identity. Constant for an identity, so the value may be kept across switches.
Context* current_context() noexcept;

// Makes `context` the one that belongs to the caller's identity, which is its OS thread's own; null: it has none for
// now.
void bind_identity(Context* context) noexcept;

// The context of a live thread, and the current one if it has one; null: none. It touches nothing but that thread's
// word for it.
Context* context_of(pthread_t thread) noexcept;
Context* own_context() noexcept;

// Leaves the current context and continues `target`, which nobody may be running, on the same carrier.
// Returns when somebody switches back. Kernel-side state (tid, signal mask, affinity) stays with the OS
// thread; registers that a call preserves, and the floating-point control words, go with the context.
void switch_to(Context* target) noexcept;
// The same for a caller that knows which the current one is, has begun to leave it, and has occupied the other one
// (core/context/signals.h).
void switch_between(Context* self, Context* target) noexcept;

// Makes an idle context run `entry(argument)` at the next switch to it.
void prepare(Context* context, Entry entry, void* argument) noexcept;

// Gives `context`, bound to an identity that nobody runs, a first frame below `stack_top`.
void make_idle(Context* context, void* stack_top) noexcept;

// Called by a context that is about to leave its carrier of this number, and by one that continues, first of all: for
// tools that watch. Null: nobody does.
using SwitchObserver = void (*)(bool leaving, int carrier);
void set_switch_observer(SwitchObserver observer) noexcept;

// The CPU time of the caller, which is attached: of all its turns on whatever OS threads from its first call on, and
// what its own OS thread had used before. The answer never decreases. May be called by handlers of signals.
int64_t own_cpu_time() noexcept;

// Called by the context that continues with the one just left; set by the scheduler.
using DepartureHandler = void (*)(Context* left);
void set_departure_handler(DepartureHandler handler) noexcept;

}  // namespace weft::core
