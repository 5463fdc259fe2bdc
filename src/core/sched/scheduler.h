// SPDX-License-Identifier: Apache-2.0
// Contexts and parallel calls, as those see them who make them. Every function is thread-safe. core/README.md describes
// the protocols.
#pragma once

#include "core/context/context.h"
#include "core/sched/parallel_call.h"
#include "core/sched/settings.h"

namespace weft::core {

// The caller's context; a thread that is not of the pool becomes a root. Beyond kMaxRoots it is one to which nobody
// comes to help, and which gets no contexts.
Context* attach() noexcept;

// A root that ends gives back what it holds; it may attach again.
void detach() noexcept;

// The number of the caller's carrier, below kMaxCarriers; -1: it has none, or one beyond those that are numbered.
int carrier_number() noexcept;

// What another layer keeps with the calling thread's carrier, null at first; touched by its thread alone.
void*& kept_by_carrier() noexcept;

// The system's id of the OS thread that runs the caller, which is attached.
pid_t thread_id() noexcept;

// A root brackets its regions, of `calls` calls, with these; they tell when it competes for a slot. An outermost one
// may have to wait until it may begin (core/sched/admission.h).
void enter_region(Context* self, int calls) noexcept;
void leave_region(Context* self) noexcept;

// A context of the caller's own that will run `start(argument)` once the caller launches it, or null when the
// system refuses another thread. The context is free again when `start` returns. `worker_hint` spreads
// contexts over workers: equal hints, equal worker; 0: where the caller runs.
Context* make_context(void (*start)(void*), void* argument, int worker_hint) noexcept;
// For its maker alone: an unblock() that comes before meant what the context has served earlier, and is not heard.
// Once it has been launched this is unblock().
void launch(Context* context) noexcept;

// The same for several, where threads have been lent to their parallel call: a woken thread may take the CPU from the
// caller, so each of them can go on before the first is woken, and wakes the next itself. True: the caller has
// `context`, links it by `next`, and passes the chain to launch_together(). False: it goes on already.
bool take_to_launch(Context* context) noexcept;
void launch_together(Context* chain) noexcept;

// Keeps a context that is blocked from going on, until it is let go again: an unblock() meanwhile is not heard. By
// the thread whose calls it waits for. False: it is not blocked.
bool hold(Context* context) noexcept;
void let_go(Context* context) noexcept;

// Makes `stub` stand for a call of start(argument) by the worker of that number, from 1, under an identity that the
// worker has anyway; unblock() lets it begin. False when there is no such worker, or it is spoken for; until
// release_bodiless().
bool make_bodiless(Context* stub, void (*start)(void*), void* argument, int worker_number) noexcept;
void release_bodiless(Context* stub) noexcept;

// Offers the calls 1 .. count-1 of `parallel_call`, whose `call` is set, to every carrier.
void publish(ParallelCall* parallel_call, int count) noexcept;

// Takes back the calls that nobody has claimed: they are never run. By the publisher, before join().
void withdraw(ParallelCall* parallel_call) noexcept;

// One that has been published with no call but the publisher's own gets others: calls 1 .. count-1.
void publish_again(ParallelCall* parallel_call, int count) noexcept;

// Waits until all published calls have ended; runs those that nobody claims. False, before that, when all are claimed
// and `stop` is set; the thread that sets it then unblocks the parallel call's sleeper. The call is to be made again.
bool join(ParallelCall* parallel_call, const std::atomic<bool>& stop = kNever) noexcept;

}  // namespace weft::core
