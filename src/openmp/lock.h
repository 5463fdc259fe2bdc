// SPDX-License-Identifier: Apache-2.0
// Locks (OpenMP 5.2, section 18.9) and critical sections.
//
// Both ABIs' lock variables are caller's memory: omp_lock_t has 4 bytes with gcc and 8 with clang,
// omp_nest_lock_t 16 and 8 (8 in OMP_1.0). So a simple lock is one 32-bit word, a nest lock a pointer.
#pragma once

#include <atomic>
#include <cstdint>

#include "openmp/ompt/tool.h"

namespace weft::openmp {

struct Member;

// 0 free, 1 held, 2 held and somebody is parked.
using LockWord = std::atomic<uint32_t>;
static_assert(sizeof(LockWord) == 4);

void lock(LockWord& word) noexcept;
bool try_lock(LockWord& word) noexcept;
void unlock(LockWord& word) noexcept;

// Of atomic constructs that are compiled to no instruction.
extern LockWord g_atomic;
// The same for the program's constructs and routines, of which tools are told. `caller`: of the runtime.
void acquire(LockWord& word, ompt_mutex_t kind, const void* caller) noexcept;
bool try_acquire(LockWord& word, const void* caller) noexcept;
void release(LockWord& word, ompt_mutex_t kind, const void* caller) noexcept;

// Owned by a task region, which may take it again.
struct NestLock {
  LockWord word{0};
  int count = 0;
  // Relaxed: a task finds its own address here only if it wrote it.
  std::atomic<const void*> owner{nullptr};
};

// The new nesting count; try_lock: 0 when another task holds it.
int lock(NestLock& nest, const void* task) noexcept;
int try_lock(NestLock& nest, const void* task) noexcept;
// The count that is left.
int unlock(NestLock& nest) noexcept;

int acquire(NestLock& nest, const void* task, const void* caller) noexcept;
int try_acquire(NestLock& nest, const void* task, const void* caller) noexcept;
int release(NestLock& nest, const void* caller) noexcept;

}  // namespace weft::openmp
