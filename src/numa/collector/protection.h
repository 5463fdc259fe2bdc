// SPDX-License-Identifier: Apache-2.0
// What the protection of pages does when something happens to the arrays or to the process. The collector asks for it;
// libweft-numa.so protects nothing (numa/plain), libweft-numa-protect.so has numa/protect.
#pragma once

#include <cstddef>
#include <cstdint>

#include "numa/record/layout.h"

namespace weft::numa::protection {

// The settings have been read, and the record has been made, in this order. The process may have one thread, and no
// other constructors may have run.
void prepare(const Settings& settings) noexcept;
void start() noexcept;
// All libraries are there: functions behind the collector's own can be looked up.
void look_up() noexcept;

// The process ends, becomes the child of a fork, or gives up system calls.
void stop() noexcept;
void forget() noexcept;
void give_up() noexcept;

// A block is about to be noted, outside of the lock of the arrays; it has an entry, and nobody knows of it yet, within
// the lock; the lock is free again.
void before_array(How how) noexcept;
void add_array(int index, uintptr_t begin, size_t bytes, How how) noexcept;
void after_array(How how) noexcept;
// The array is about to be freed. The lock is held.
void remove_array(int index) noexcept;

// The program is about to unmap memory, or to map something else there.
void replace_mapping(uintptr_t begin, size_t bytes) noexcept;

}  // namespace weft::numa::protection
