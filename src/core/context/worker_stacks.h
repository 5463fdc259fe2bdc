// SPDX-License-Identifier: Apache-2.0
// Memory for the stacks of several workers that begin at once: one mapping in place of four for each of them, of which
// a process may have 65,530, and no call that changes mappings while others start. Internal to core.
#pragma once

#include <cstddef>

namespace weft::core {

// From low addresses to high ones: a guard, a stack for handlers, a guard, the worker's own stack.
struct WorkerStack {
  char* stack = nullptr;  // null: there is none, and libc and AlternateStack map what the worker needs
  char* handlers = nullptr;

  // Sets both guards. Called by the thread that is to run on the stack, before anything else: the guards need the first
  // page tables of the stack, so each thread makes its own.
  void guard() const noexcept;
  // Gives the memory below the thread's frames back. Called by the same thread, at its end.
  void give_back() const noexcept;
};

// Only where the system can guard pages within a mapping (Linux 6.13), and not under valgrind, which takes a mapping
// for one stack. Not thread-safe: `Pool::lock` guards the one of the process. Stacks are not given back: a worker that
// ends with its identity has had its only one.
class WorkerStacks {
 public:
  // Maps `count` more stacks of `stack_size` bytes above the guard. Where there is no memory, there are none.
  void reserve(int count, size_t stack_size) noexcept;

  // Gives the stacks that are left back.
  void release() noexcept;

  WorkerStack take() noexcept;
  // Puts the stack back that was taken last, before the lock is left: its thread has not begun.
  void put_back() noexcept;

 private:
  char* next_ = nullptr;
  int left_ = 0;
  size_t each_ = 0;
};

}  // namespace weft::core
