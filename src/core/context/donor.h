// SPDX-License-Identifier: Apache-2.0
// A parked thread that has donated its identity and its stack to a context. It runs handlers of signals for contexts
// that no carrier runs (core/context/signals.h).
//
// Where contexts are paused, most donors are *absent*: the OS thread has ended, past libc, and has left the identity
// behind. Whoever needs one starts another OS thread in its place, which goes on where the first one has parked: to run
// handlers, after which it leaves again, or to end the identity as libc ends threads. libc's record says meanwhile that
// the thread lives, and has a number that the kernel gives no thread. Internal to core.
#pragma once

#include <atomic>
#include <cstdint>

#include <pthread.h>

#include "core/context/context.h"

namespace weft::core {

struct alignas(64) Donor : Context {
  // Bits of `state`.
  enum State : uint32_t {
    starting = 0,
    parked = 1,
    taken = 2,  // a thread that calls the donor is writing `call`
    called = 4,  // the donor is to run handlers for `call`
    ending = 8,  // beside the others: the pool has told it to end
    absent = 16,  // beside the others: no OS thread of it is there, or the last one is about to be gone
    coming = 32,  // in place of `absent`: a thread tries to bring it back, with signals blocked
  };

  pthread_t thread{};
  // Release and acquire: it publishes the context's fields to the side that waits, and `call` to the donor.
  std::atomic<uint32_t> state{starting};
  Context* call = nullptr;
  Donor* next_made = nullptr;
  Donor* previous_made = nullptr;
  Donor* next_of_all = nullptr;  // constant from the moment it stands in the list
  size_t stack_size = 0;  // of the whole stack, above `stack_end`

  // ---- of one that is absent where it can be; constant from the end of its start, but for `os_thread` ----
  bool leaves = false;
  uint32_t* number_in_record = nullptr;  // where libc has the number of the thread
  void* parked_at = nullptr;  // where the thread goes on, on the donor's own stack
  uint32_t generation = 0;  // of its process (platform/generation.h)
  // The number of the OS thread that is there; 0: none, and the donor's own stack is free (platform/bare_thread.h).
  std::atomic<uint32_t> os_thread{0};

  // Calls the donor to run handlers for `context`. Returns false where it is not parked. Called by any thread, also in
  // signal handlers, with signals blocked.
  bool take_call(Context* context) noexcept;

  // The donor's thread parks here, and serves contexts that it is called for, until it is to end.
  void serve() noexcept;

  // Makes the donor one that is absent where it can be, and returns true, if its thread and this machine allow that.
  // Called by the donor's thread before it serves.
  bool begin_to_leave_threads() noexcept;
  // The caller, which serves, goes; returns, on another OS thread or at once, when there is something to do. False: it
  // must stay.
  bool leave_thread() noexcept;
  // Sees to it that an OS thread is there; false: the system refuses one. It may take as long as another thread that
  // tries the same.
  bool bring_back() noexcept;
  // The OS thread that runs this becomes the thread that libc takes the donor for. Called when it is to end.
  void become_thread() noexcept;
  // The number of the OS thread that runs this.
  pid_t own_thread() const noexcept { return leaves ? static_cast<pid_t>(os_thread.load()) : thread_id; }
};

// Runs `run(argument)` on an OS thread for that alone, under the identity `thread_pointer`, and waits for its end.
// False: the system refuses a thread, or memory for its stack.
bool run_apart(uintptr_t thread_pointer, void (*run)(void*), void* argument) noexcept;

// Whether donors of this process may be absent: not where a tool that follows each thread would lose it.
bool donors_may_leave() noexcept;

}  // namespace weft::core
