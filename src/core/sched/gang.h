// SPDX-License-Identifier: Apache-2.0
// Gangs: calls that must all run at the same time, since they wait for each other in ways the scheduler cannot
// see. Offered work may wait until somebody has time; a gang may not.
#pragma once

#include "core/sched/parallel_call.h"

namespace weft::core {

// Carriers that could start a call for the caller's root at once: idle ones, and those whose context only waits.
int idle_carriers() noexcept;

// Whether nobody else may want the CPUs: no other root holds a slot, no other process shares them.
bool alone() noexcept;

// OS threads that are at work: roots that hold slots, and workers that neither look for work nor only wait.
int busy_carriers() noexcept;

// A gang that is about to be published announces the calls it needs beside its publisher's. Returns for how many of
// these there are no carriers, if all that have been announced by gangs are counted: that many are to be lent. The
// carrier that begins one says so.
int announce_gang(int calls) noexcept;
void begin_gang_calls(int calls) noexcept;
// One whose calls need not run at the same time after all announces none: it is counted as one that is divided.
void count_gang() noexcept;

// Lends a gang OS threads that it needs beyond those that are idle; as a rule none are missing. Until return_threads()
// they may run beside the CPU slots. Returns how many were lent: less than `missing` where the system refuses them.
int lend_threads(int missing) noexcept;
void return_threads(int lent) noexcept;

// The caller is about to let its OS thread sleep in the system, and has come back: if it is a root, others may have its
// slot meanwhile.
void begin_sleep(const Context* self) noexcept;
void end_sleep(const Context* self) noexcept;

// Runs a member of the published `parallel_call`, if there is one left, on the caller's context, which waits for
// something and goes on afterwards. `served` is the serial of the parallel call that it took part in last, 0 at first:
// no context is two members of one parallel call.
void take_part(ParallelCall* parallel_call, uint64_t* served) noexcept;

// Sends `calls` carriers to claim from the published `parallel_call`.
void summon(ParallelCall* parallel_call, int calls) noexcept;

}  // namespace weft::core
