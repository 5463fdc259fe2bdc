// SPDX-License-Identifier: Apache-2.0
// The collector: whether it is at work in this process, and what its parts have in common.
#pragma once

#include <atomic>
#include <cstdint>

#include "numa/record/layout.h"

namespace weft::numa {

// The record of this process; null: nothing is collected. It is set once, and taken away in the child of a fork, whose
// arrays are its parent's to report, and when the program gives up system calls.
Record* record() noexcept;

// Makes the record as the environment asks for, at the first call. The constructor calls it, and the first large
// allocation if that comes earlier.
void start() noexcept;

// In the child of a fork: its memory is what it was, but the threads are gone. It is left alone.
void forget_record() noexcept;

// The program is about to give up system calls: what can be found out is found out now, and from here on the collector
// makes none, not even at the end.
void seal() noexcept;

// Whether this is still the process of the record. A child by a system call of its own has the parent's record mapped.
bool is_own_process() noexcept;

// Room of the record for so many entries of a kind, which is taken before they are written: on a full disk a write
// would end the program. False: there is none. The lock of the arrays is held.
bool has_site_room(uint32_t count) noexcept;
bool has_array_room(uint32_t count) noexcept;
bool has_touch_room(uint32_t count) noexcept;

int64_t now_ns() noexcept;
int32_t thread_number() noexcept;

// Whether there is time left of what looking at things may take: a small part of what has passed. A program that
// allocates all the time gets fewer looks. What takes long may use half of the time, so that the rest is there for
// entries; what is rare, or matters more, some more. The values are halves.
enum class Budget : int { half = 1, whole = 2, twice = 4, several = 10 };
bool may_spend(Budget budget = Budget::whole) noexcept;
void spend(int64_t ns) noexcept;

// What passes while it lives is spent.
class Spending {
 public:
  Spending() noexcept : began_(now_ns()) {}
  ~Spending() { spend(now_ns() - began_); }
  Spending(const Spending&) = delete;
  Spending& operator=(const Spending&) = delete;

 private:
  const int64_t began_;
};

// Before the end of the program: where all live arrays lie, and what is mapped. The program may go on, if it could not
// become another one.
void look_back() noexcept;

// The program ends: it looks back, unprotected. A record without arrays goes, unless it is that of the program which
// the command has started.
void leave() noexcept;

}  // namespace weft::numa
