// SPDX-License-Identifier: Apache-2.0
// Locks (OpenMP 5.2, section 18.9) and critical sections.
//
// Both ABIs' lock variables are caller's memory: omp_lock_t has 4 bytes with gcc and 8 with clang,
// omp_nest_lock_t 16 and 8 (8 in OMP_1.0). So a simple lock is one 32-bit word, a nest lock a pointer.
#pragma once

#include <atomic>
#include <cstdint>

#include "openmp/tool/lock_word.h"
#include "openmp/tool/tool.h"
#include "weft/omp-tools.h"

namespace weft::openmp {

struct Member;

void lock(LockWord& word) noexcept;
// For statements during which no task is paused.
void lock_shortly(LockWord& word) noexcept;
void lock_as(LockWord& word, ompt_mutex_t kind) noexcept;
bool try_lock(LockWord& word) noexcept;
void unlock(LockWord& word) noexcept;

// Of atomic constructs that are compiled to no instruction.
extern LockWord g_atomic;

// The same for the program's constructs and routines, of which tools are told; to stand in what the program calls. The
// short paths do not ask whether there is a tool: with one, taking a lock this way never succeeds, since g_free_word is
// kNever, and a lock that was taken is not just t_held. Relaxed: a thread that sees it late takes a lock the long way.
extern std::atomic<uint32_t> g_free_word;
void acquire_slowly(LockWord& word, ompt_mutex_t kind, const void* caller) noexcept;
bool try_acquire_slowly(LockWord& word, const void* caller) noexcept;
void release_slowly(LockWord& word, uint32_t seen, ompt_mutex_t kind, const void* caller) noexcept;

[[gnu::always_inline]] inline bool acquire_at_once(LockWord& word) noexcept {
  uint32_t expected = g_free_word.load(std::memory_order_relaxed);
  // Acquire pairs with the release of those that give it back: what the last holder did is seen.
  return word.compare_exchange_strong(expected, t_held, std::memory_order_acquire, std::memory_order_relaxed);
}
[[gnu::always_inline]] inline void acquire(LockWord& word, ompt_mutex_t kind) noexcept {
  if (!acquire_at_once(word)) acquire_slowly(word, kind, WEFT_CALLER);
}
[[gnu::always_inline]] inline bool try_acquire(LockWord& word) noexcept {
  return acquire_at_once(word) || try_acquire_slowly(word, WEFT_CALLER);
}
[[gnu::always_inline]] inline void release(LockWord& word, ompt_mutex_t kind) noexcept {
  const uint32_t seen = word.exchange(kFree, std::memory_order_release);
  if (__builtin_expect(seen != t_held, 0)) release_slowly(word, seen, kind, WEFT_CALLER);
}
// The caller holds the word, and a tool has been told so. Relaxed: it passes nothing on, and a waiter's mark does as
// well.
inline void mark_reported(LockWord& word) noexcept {
  uint32_t held = t_held;
  word.compare_exchange_strong(held, with_state(held, kReported), std::memory_order_relaxed);
}

// The new nesting count; try_lock: 0 when another task holds it.
int lock(NestLock& nest, const void* task) noexcept;
int try_lock(NestLock& nest, const void* task) noexcept;
// The count that is left.
int unlock(NestLock& nest) noexcept;

int acquire(NestLock& nest, const void* task, const void* caller) noexcept;
int try_acquire(NestLock& nest, const void* task, const void* caller) noexcept;
int release(NestLock& nest, const void* caller) noexcept;

}  // namespace weft::openmp
