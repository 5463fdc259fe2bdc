// SPDX-License-Identifier: Apache-2.0
// Gangs: calls that must all run at the same time, since they wait for each other in ways that the scheduler cannot
// see. Other work may wait until a carrier has time; a gang may not.
#pragma once

#include "core/sched/parallel_call.h"

namespace weft::core {

// How many carriers could start a call for the caller's root at once: idle ones, and those whose context only waits.
int idle_carriers() noexcept;

// How many other roots hold slots: threads that compute beside the caller's.
int other_roots() noexcept;

// Whether the caller's root has the CPUs alone: no other root holds a slot, and no other process shares them.
bool alone() noexcept;

// How many OS threads are at work: roots that hold slots, and workers that neither look for work nor only wait.
int busy_carriers() noexcept;

// Announces a gang that is about to be published: the calls that it needs beside its publisher's. Returns for how many
// of these there are no carriers, counting the calls of all gangs: the caller lends that many threads.
int announce_gang(int calls) noexcept;
// To be called by a carrier that begins announced calls.
void begin_gang_calls(int calls) noexcept;
// For a gang whose calls need not run at the same time after all: it announces none, and is only counted.
void count_gang() noexcept;

// Lends a gang OS threads that it needs beyond those that are idle; as a rule none are missing. Until return_threads()
// they may run beside the CPU slots. Returns how many were lent: less than `missing` where the system refuses them.
int lend_threads(int missing) noexcept;
void return_threads(int lent) noexcept;

// The two bracket a sleep of the caller's OS thread in the system: if the caller is a root, others may have its slot
// meanwhile.
void begin_sleep(const Context* self) noexcept;
void end_sleep(const Context* self) noexcept;

// Runs a member of the published `parallel_call`, if one is left, on the caller's context, which waits for something
// and goes on afterwards. `*served`: the serial of the parallel call that the context took part in last, 0 at first: no
// context runs two members of one parallel call.
void take_part(ParallelCall* parallel_call, uint64_t* served) noexcept;

// Sends `calls` carriers to claim from the published `parallel_call`.
void summon(ParallelCall* parallel_call, int calls) noexcept;

}  // namespace weft::core
