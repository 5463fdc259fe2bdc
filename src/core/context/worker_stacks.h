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

  // By the thread that is to run on it, before anything else: both guards. Theirs are the first page tables there, so
  // that is left to each.
  void guard() const noexcept;
  // By the same thread, at its end: the memory below its frames.
  void give_back() const noexcept;
};

// Only where the system can guard pages within a mapping (Linux 6.13), and not under valgrind, which takes a mapping
// for one stack. Not thread-safe: `Pool::lock` guards the one of the process. Stacks are not given back: a worker that
// ends with its identity has had its only one.
class WorkerStacks {
 public:
  // Room for so many more, with stacks of `stack_size` bytes above the guard. Without memory there are none.
  void reserve(int count, size_t stack_size) noexcept;

  // What is left of that has no use.
  void release() noexcept;

  WorkerStack take() noexcept;
  // The one that has been taken last, before the lock is left: its thread has not begun.
  void put_back() noexcept;

 private:
  char* next_ = nullptr;
  int left_ = 0;
  size_t each_ = 0;
};

}  // namespace weft::core
