// SPDX-License-Identifier: Apache-2.0
// The collector: whether it is at work in this process, and what its parts have in common.
#pragma once

#include <atomic>
#include <cstdint>

#include "numa/record/layout.h"

namespace weft::numa {

// The record of this process; null: nothing is collected. It is set once, and taken away in the child of a fork, whose
// arrays are its parent's to report.
Record* record() noexcept;

// Makes the record as the environment asks for, at the first call. The constructor calls it, and the first large
// allocation if that comes earlier.
void start() noexcept;

// In the child of a fork: its memory is what it was, but the threads are gone. It is left alone.
void forget_record() noexcept;

// Whether this is still the process of the record. A child by a system call of its own has the parent's record mapped.
bool is_own_process() noexcept;

int64_t now_ns() noexcept;
// Time that the calling thread has used: where others compete for the CPU, less than has passed.
int64_t used_ns() noexcept;
int32_t thread_number() noexcept;

// Time that looking at things may take: a small part of what has passed. A program that allocates all the time gets
// fewer looks.
bool may_spend() noexcept;
void spend(int64_t ns) noexcept;

// Before the end of the program: where all live arrays lie, and what is mapped. The program may go on, if it could not
// become another one.
void look_back() noexcept;

}  // namespace weft::numa
