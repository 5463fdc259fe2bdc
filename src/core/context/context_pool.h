// SPDX-License-Identifier: Apache-2.0
// Contexts whose identity and stack are donated by parked OS threads.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/context/context.h"

namespace weft::core {

struct Donor;

// A donor is a pthread that parks as soon as it has started. Its TLS block, and its stack below the few
// frames it sleeps in, are a context that any OS thread may run. Both come from one pthread, so whatever
// asks for stack bounds or thread state (sanitizers, pthread_getattr_np) gets answers that agree.
// Not thread-safe: `Pool::lock` guards the one of the process.
class ContextPool {
 public:
  // `stack_size` in bytes for what runs in a context; a guard lies below each stack. The first records are made by the
  // caller: a thread of the pool that allocates gets an area of memory of its own from libc, of 64 MiB of addresses.
  explicit ContextPool(size_t stack_size) noexcept;
  ContextPool(const ContextPool&) = delete;
  ContextPool& operator=(const ContextPool&) = delete;

  // Every context made must have been ended.
  ~ContextPool();

  // A new context; null when the system refuses another thread (RLIMIT_NPROC, memory): the caller decides what to do
  // without. Where it was needed, the user is told once, and refused() says so from then on. Where there are
  // `with_threads` donors, the thread of this one is not kept (core/context/donor.h).
  Context* make(bool needed = true, size_t with_threads = SIZE_MAX) noexcept;

  // A free context ends with its identity in four steps: it leaves the pool; its donor is told to end; its donor has
  // ended; its record serves again. They are apart since the end of a donor may need a lock under which another step is
  // made. Records are never given up, since another thread may be late with a look at one.
  void withdraw(const Context* context) noexcept;
  static void begin_end(Context* context) noexcept;
  // Between the two an absent donor needs a thread; false: it has none, and the system refuses one for now.
  static bool has_thread_to_end(Context* context) noexcept;
  static bool has_ended(Context* context) noexcept;
  void reuse(Context* chain) noexcept;

  // The second and the third step for a chain of contexts that have been withdrawn: waits for their donors. The system
  // may refuse the threads that absent donors need for that; of those has_ended() is to be asked later.
  struct Ended {
    Context* ended = nullptr;
    Context* later = nullptr;
  };
  static Ended end(Context* chain) noexcept;

  bool refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

  // Tells the user, once, that the system has refused a thread.
  void note_refusal(int error) noexcept;

  // How many donors are alive; the most that there have been; how many have been withdrawn. Of the first any thread may
  // ask: without the lock it is a guess.
  size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  size_t most() const noexcept { return most_; }
  size_t withdrawn() const noexcept { return withdrawn_; }

  // How many of them have an OS thread all the time.
  size_t threads() const noexcept;

  // The list of all donors that there have been, linked by next_of_all. Called by any thread.
  Donor* all() const noexcept { return all_.load(std::memory_order_acquire); }

 private:
  static void* donor_main(void* donor);
  void enlist(Donor* donor) noexcept;
  void delist(const Donor* donor) noexcept;
  void list(Donor* donor) noexcept;

  const size_t stack_size_;
  // Relaxed: written under the lock. Who reads it without the lock makes a context more or less.
  std::atomic<size_t> size_{0};
  size_t most_ = 0;
  size_t withdrawn_ = 0;
  Donor* made_ = nullptr;  // all of them, so that debuggers and leak checkers find suspended contexts
  Donor* ended_ = nullptr;  // records without a thread
  // Release and acquire: a thread that sees the pointer sees the record.
  std::atomic<Donor*> all_{nullptr};
  // The system has refused a thread, and the user has been told. Relaxed: others ask without the lock that guards the
  // rest, and a region more or less goes by it.
  std::atomic<bool> refused_{false};
};

// Whether there is address space for another thread with such a stack, and some left for the program: fewer threads are
// better than a program without memory.
bool has_room_for(size_t stack_size) noexcept;

// Gives the unused memory of a context's stack back to the system. No carrier runs the context, and the caller has the
// right to let it go on.
void trim_stack(Context* context) noexcept;

// The same for the calling context.
void trim_own_stack(const Context* self) noexcept;

// Called by the thread that has donated a context when that ends, before its thread-local objects do.
void set_identity_end(void (*ending)()) noexcept;

}  // namespace weft::core
