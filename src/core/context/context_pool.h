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

  // A new one; null when the system refuses another thread (RLIMIT_NPROC, memory): the caller decides what to do
  // without. Where it was needed, that is said once, and refused() tells it.
  Context* make(bool needed = true) noexcept;

  // A context that is free ends with its identity, in steps, since what ends may need a lock that the others are under:
  // it is the pool's no more; its donor is told to end; its donor has ended; its record serves again. Records are never
  // given up, since somebody may be late with a look at them.
  void withdraw(const Context* context) noexcept;
  static void begin_end(Context* context) noexcept;
  static bool has_ended(Context* context) noexcept;
  void reuse(Context* chain) noexcept;

  // The second and the third for a chain of contexts, which have been withdrawn: waits for their donors.
  static void end(Context* chain) noexcept;

  bool refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

  // Says so to the user, once.
  void note_refusal(int error) noexcept;

  // Donors alive; the most there have been; those that have been withdrawn.
  size_t size() const noexcept { return size_; }
  size_t most() const noexcept { return most_; }
  size_t withdrawn() const noexcept { return withdrawn_; }

  // Each that there has been, by next_of_all. By any thread.
  Donor* all() const noexcept { return all_.load(std::memory_order_acquire); }

 private:
  static void* donor_main(void* donor);
  void enlist(Donor* donor) noexcept;
  void delist(const Donor* donor) noexcept;
  void list(Donor* donor) noexcept;

  const size_t stack_size_;
  size_t size_ = 0;
  size_t most_ = 0;
  size_t withdrawn_ = 0;
  Donor* made_ = nullptr;  // all of them, so that debuggers and leak checkers find suspended contexts
  Donor* ended_ = nullptr;  // records without a thread
  // With release and acquire: the record comes with it.
  std::atomic<Donor*> all_{nullptr};
  // The system has refused a thread, and the user has been told. Relaxed: others ask without the lock that guards the
  // rest, and a region more or less goes by it.
  std::atomic<bool> refused_{false};
};

// Whether there is address space for another thread with such a stack, and some for the program besides: it had better
// do with fewer threads than without memory.
bool has_room_for(size_t stack_size) noexcept;

// The memory below what a context that nobody runs has on its stack goes back to the system. By who has the right to
// let it go on.
void trim_stack(Context* context) noexcept;

// The same by the context that runs.
void trim_own_stack(const Context* self) noexcept;

// Called by the thread that has donated a context when that ends, before its thread-local objects do.
void set_identity_end(void (*ending)()) noexcept;

}  // namespace weft::core
