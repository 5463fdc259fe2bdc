// SPDX-License-Identifier: Apache-2.0
// Says what happened when a member runs over the end of its stack, before the program dies of SIGSEGV as it would
// anyway. Internal to core.
#pragma once

#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace weft::core {

// The size of the guard below each stack of the pool: bytes that fault. It is more than a page, since a frame may skip
// one.
inline constexpr size_t kGuardSize = 64u << 10;

// A live thread's stack, above its guard; zeros when it cannot be told. It allocates memory, so better not by threads
// that have no arena of the allocator's yet.
struct StackBounds {
  uintptr_t end = 0;  // the lowest address
  size_t size = 0;    // in bytes
};
StackBounds stack_of(pthread_t thread) noexcept;

// Installs the handler of SIGSEGV, once, unless the program has one.
void watch_stacks(size_t stack_size) noexcept;

// While this object lives, the OS thread that has made it has an alternate stack for signal handlers, with a guard
// below: a handler would find no room where a member has used up its own stack. The program's handlers with SA_ONSTACK
// run there too. There is none where the thread has one already, or the system refuses the memory. For workers only:
// threads of the program keep what they have.
class AlternateStack {
 public:
  // Large enough for handlers that had the whole of a member's stack; memory that is not touched costs none.
  static constexpr size_t kSize = 256u << 10;
  // Whether kSize has room for what the system puts on the stack.
  static bool is_large_enough() noexcept;

  // `prepared`: kSize bytes above a guard; null: the memory is mapped here.
  explicit AlternateStack(char* prepared) noexcept;
  ~AlternateStack();
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  bool install(char* lowest, size_t size) noexcept;
  void map_apart() noexcept;

  char* lowest_ = nullptr;  // null: there is none
  size_t size_ = 0;
  bool apart_ = false;
};

}  // namespace weft::core
