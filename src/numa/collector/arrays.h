// SPDX-License-Identifier: Apache-2.0
// The arrays of the process: large blocks of memory, and where each was allocated.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "numa/record/layout.h"

namespace weft::numa {

// Blocks of this size or more are arrays. SIZE_MAX: none is.
extern std::atomic<size_t> g_least_size;
void set_least_size(size_t bytes) noexcept;
inline bool is_large(size_t bytes) noexcept {
  // Relaxed: it changes at the start and in children only.
  return __builtin_expect(bytes >= g_least_size.load(std::memory_order_relaxed), 0);
}

// A block that has just been allocated; nobody else knows of it yet. Outside of the allocator: of a block that is not
// `mapped` a thread may be started, which allocates. Keeps errno.
void add_array(void* begin, size_t bytes, How how) noexcept;

// Whether a pointer that is freed may be an array: false is certain.
bool may_be_array(const void* pointer) noexcept;

// The array that begins at `pointer` is about to be freed. After this nobody protects it, or looks at it. Keeps errno.
// Allocates nothing.
void remove_array(const void* pointer) noexcept;

// For what must not happen while arrays come or go.
void lock_arrays() noexcept;
void unlock_arrays() noexcept;

// Where all live arrays lie now.
void look_at_all() noexcept;

// Which entries have been used.
int used_entries() noexcept;

}  // namespace weft::numa
