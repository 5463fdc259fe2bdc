// SPDX-License-Identifier: Apache-2.0
// What protection needs to know of each array, by the number of its entry in the record.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "numa/record/layout.h"

namespace weft::numa {

struct ArrayGuard {
  // Where it lies; 0, 0: the entry is not live.
  std::atomic<uintptr_t> begin;
  std::atomic<uintptr_t> end;
  // Calls that the kernel may still access the memory for: no page of it must be protected.
  std::atomic<uint32_t> holds;
  // Never to be protected (again): parts are unmapped or have a protection of the program's, or the kernel may access
  // it at any time.
  std::atomic<bool> excluded;
  std::atomic<bool> huge;  // has huge pages, which must not be split
  std::atomic<bool> was_protected;
};
extern ArrayGuard g_guards[kArrays];

// The array of the entry comes and goes. The lock of the arrays is held.
void set_guard(int index, uintptr_t begin, size_t bytes, How how) noexcept;
void clear_guard(int index) noexcept;

// The index of the live array that holds a byte of [begin, begin + bytes); -1: none. Takes no lock.
int find_array(uintptr_t begin, size_t bytes, int from = 0) noexcept;

}  // namespace weft::numa
