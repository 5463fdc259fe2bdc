// SPDX-License-Identifier: Apache-2.0
// Gangs that find no carriers wait for others to end, asleep, for a while: their callers' CPUs are what the others
// need, while OS threads beyond the CPUs would take turns of the system's, which last longer than most calls. And jobs
// of one call spin on each other meanwhile. docs/explanation/process.md.
#pragma once

#include <cstdint>

namespace weft::interpose {

// Around a gang, by its caller. A caller may have two: the LU factorization goes on beside one.
void begin_turn() noexcept;
void end_turn() noexcept;

// Whether to wait makes sense: other callers have gangs, and the caller has none, which others could be held up by.
bool others_have_turns() noexcept;

// Sleeps until a gang has ended since `seen`, a value of turns_ended(), or `ns` nanoseconds have passed. An end wakes
// one thread that sleeps. A thread that does not sleep again passes that on: there may be carriers for another one.
uint32_t turns_ended() noexcept;
void await_turn(uint32_t seen, int64_t ns) noexcept;
void pass_turn_on() noexcept;

// In the child of a fork nobody else has gangs.
void forget_turns() noexcept;

}  // namespace weft::interpose
