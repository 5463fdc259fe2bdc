// SPDX-License-Identifier: Apache-2.0
// The queue of gangs. A gang that finds no carriers sleeps for a while until another gang ends: the other gangs can use
// its caller's CPU meanwhile. With more OS threads than CPUs the threads would take turns of the kernel's length, which
// are longer than most calls, while jobs of a call spin on each other. docs/explanation/process.md.
#pragma once

#include <cstdint>

namespace weft::interpose {

// The caller of a gang brackets it with these. A caller may have two gangs: the LU factorization goes on beside one.
void begin_turn() noexcept;
void end_turn() noexcept;

// Whether it makes sense to wait: other callers have gangs, and the caller has none, by which it could hold up others.
bool others_have_turns() noexcept;

// Sleeps until a gang has ended since `seen`, a value of turns_ended(), or `ns` nanoseconds have passed. An end wakes
// one thread that sleeps. A thread that does not sleep again passes that on: there may be carriers for another one.
uint32_t turns_ended() noexcept;
void await_turn(uint32_t seen, int64_t ns) noexcept;
void pass_turn_on() noexcept;

// In the child of a fork no other thread has gangs.
void forget_turns() noexcept;

}  // namespace weft::interpose
