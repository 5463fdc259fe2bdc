// SPDX-License-Identifier: Apache-2.0
// A context: a stack and the thread identity that goes with it (core/README.md).
#pragma once

#include <atomic>
#include <cstddef>
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

// How a context leaves its carrier: this says what its successor has to do with it.
enum class Departure : uint8_t {
  none,   // the context has not left
  block,  // it waits for unblock()
  queue,  // it waits for the release of its queue
  yield,  // it can go on at once, after others
  idle,   // it runs the scheduler's loop and has nothing to do: it is a free context
  elsewhere,  // the successor has nothing to do: another thread keeps the context. So with one that has never run
};

// The token of block() and unblock().
struct Token {
  enum Value : uint32_t {
    none,       // running, nothing pending
    notified,   // unblock() came first; the next block() returns at once
    suspended,  // left, stack complete: unblock() makes it ready
    resting,  // waits in place as long as its carrier has nothing else to do: unblock() calls the carrier
    sleeping,  // waits in place on a futex, for want of a free context
    held,  // no carrier runs it, and only one thread may make it go on; an unblock() meant an earlier wait or life
  };
};

// The registration for restartable sequences that belongs to an identity (platform/rseq.h).
enum class Rseq : uint8_t {
  none,  // there is none that matters: the kernel writes into the identity's area for no other OS thread
  held,  // the registration is a root's, and the root has not left its OS thread so far
  refused,  // the OS thread cannot give its registration up
};

struct Context {
  // ---- a cache line that each switch and each wait touches ----
  uintptr_t thread_pointer = 0;  // the identity; constant
  void* stack_pointer = nullptr;  // where to continue; meaningful only while no carrier runs the context
  Context* next = nullptr;  // link of the list that holds the context
  Carrier* carrier = nullptr;  // the carrier that runs the context, or ran it last; re-read after every switch
  Carrier* home = nullptr;  // of a root's own context: it runs on this carrier only
  Carrier* root = nullptr;  // the root whose work the context does

  // 1: a carrier runs the context, or is about to; 0: its stack is complete (core/context/signals.h). Release by the
  // context that leaves, acquire by the context that continues: what was written before a switch is seen after it. On
  // one OS thread that is so anyway; this states it for ThreadSanitizer, to which the two are different threads.
  std::atomic<uint32_t> occupied{0};

  // Sequentially consistent throughout: unblock() must not miss a block() that missed its condition.
  std::atomic<uint32_t> token{Token::none};
  uint32_t ticket = 0;  // see `queue`
  // Written by the context itself. A thread that sends it a signal reads it, by std::atomic_ref.
  Departure departure = Departure::none;
  Rseq rseq = Rseq::none;
  bool bodiless =
      false;  // it only stands for a call: a free context that continues it runs `start` under its own identity
  std::atomic<uint8_t> attention{0};  // see Attention; looked at by each switch

  // ---- a cache line that most switches touch ----
  Carrier* preferred = nullptr;  // the carrier where it had best continue; null: where it ran last
  const platform::CpuSet* cpus = nullptr;  // the CPUs that it is bound to (core/sched/binding.h); null: it is not bound
  // The parallel call whose member it runs; null: it runs something else. Written while it runs; relaxed, since others
  // look at it while it waits.
  std::atomic<const ParallelCall*> parallel_call{nullptr};
  WaitQueue* queue = nullptr;  // the queue in which it waits, with `ticket`; for Departure::queue
  uint64_t last_parallel_call = 0;  // serial of the parallel call that it served last
  ParallelCall* claimed = nullptr;  // the parallel call of a member that is handed over with the switch
  // The call that a free context is to run first when it continues: one that needs this very context. Written before
  // the unblock() that makes it continue, cleared by the context itself.
  void (*start)(void* argument) = nullptr;
  int claimed_index = 0;
  uint32_t born = 0;  // the request of release_idle() that it followed (core/sched/release_idle.cpp)

  // ---- the rest ----
  void* start_argument = nullptr;
  // The carrier on which it waits in place. Relaxed: stored before the token says so, and a thread that reads it late
  // wakes a carrier for nothing.
  std::atomic<Carrier*> rests_on{nullptr};
  Entry entry = nullptr;
  void* argument = nullptr;
  uintptr_t stack_end = 0;  // the lowest address of its stack, above the guard; 0: the stack is not the pool's
  pid_t thread_id = 0;  // the kernel's number of the OS thread whose identity the context has
  // What the program has set for this identity (core/context/own_settings.h), kept with the record; null: nothing so
  // far. Touched under this identity.
  OwnSettings* own = nullptr;
  CpuTime cpu_time;
  bool pinned = false;  // it has bound itself, and stays bound while it waits
  bool donated = false;  // its identity is a parked thread's; otherwise that of a thread that carries work itself
  bool ends = false;  // its thread is to end when it is back in the scheduler's loop
  // Its part in a library whose threads are guests of the pool (core/budget/guests.h). Written under this identity;
  // relaxed, since others only count.
  std::atomic<GuestPart> guest_part{GuestPart::none};
  Signals signals;  // that others have sent it
};

// The context the caller runs under. An OS thread that has none yet gets one made of its own stack and
// identity. Constant for an identity, so the value may be kept across switches.
Context* current_context() noexcept;

// Makes `context` the context of the caller's identity, which is its OS thread's own; null: the identity has none for
// now.
void bind_identity(Context* context) noexcept;

// The caller's identity, whose context is bound, has this number from now on.
void number_identity(pid_t thread) noexcept;

// Called under each identity that gets a context, with the kernel's number of its thread; also in the child of a fork,
// where that is new.
void set_identity_begin(void (*beginning)(pid_t thread)) noexcept;

// The context of a live thread, and that of the caller; null: there is none. Each reads only the thread's word for it.
Context* context_of(pthread_t thread) noexcept;
Context* own_context() noexcept;

// Whether the context's identity has no OS thread (core/context/donor.h): the kernel knows none of its number.
bool lacks_thread(const Context* context) noexcept;
bool lacks_thread(pthread_t live_thread) noexcept;
// The stack of a thread whose identity has no OS thread; false: it has one.
bool stack_without_thread(pthread_t thread, void*& lowest, size_t& size) noexcept;

// Leaves the current context and continues `target`, which no carrier runs, on the same carrier. Returns when a switch
// leads back. Kernel-side state (tid, signal mask, affinity) stays with the OS thread; registers that a call preserves,
// and the floating-point control words, go with the context.
void switch_to(Context* target) noexcept;
// The same for a caller that passes the current context, has begun to leave it, and has occupied `target`
// (core/context/signals.h).
void switch_between(Context* self, Context* target) noexcept;

// Makes an idle context run `entry(argument)` at the next switch to it.
void prepare(Context* context, Entry entry, void* argument) noexcept;

// Gives `context`, whose identity no carrier runs, a first frame below `stack_top`.
void make_idle(Context* context, void* stack_top) noexcept;

// A function for tools that watch switches: a context that is about to leave the carrier with this number calls it, and
// so does a context that continues, before anything else. Null: no tool watches.
using SwitchObserver = void (*)(bool leaving, int carrier);
void set_switch_observer(SwitchObserver observer) noexcept;

// The CPU time of the caller, which is attached: that of all its turns, on whatever OS threads, since its first call of
// this function, and what its own OS thread had used before that. It never decreases. May be called by signal handlers.
int64_t own_cpu_time() noexcept;

// The function that the context which continues calls with the one just left; set by the scheduler.
using DepartureHandler = void (*)(Context* left);
void set_departure_handler(DepartureHandler handler) noexcept;

}  // namespace weft::core
