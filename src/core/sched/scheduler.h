// SPDX-License-Identifier: Apache-2.0
// Makes contexts and parallel calls. Every function is thread-safe. core/README.md describes the protocols.
#pragma once

#include "core/context/context.h"
#include "core/sched/parallel_call.h"
#include "core/sched/settings.h"

namespace weft::core {

// The caller's context; a thread that is not of the pool becomes a root. A root beyond kMaxRoots gets no contexts, and
// no worker comes to help it.
Context* attach() noexcept;

// To be called by a root that ends: gives back what it holds. The thread may attach again.
void detach() noexcept;

// The number of the caller's carrier, below kMaxCarriers; -1: it has no carrier, or one without a number.
int carrier_number() noexcept;

// A pointer that another layer keeps with the calling thread's carrier, null at first; touched by that thread alone.
void*& kept_by_carrier() noexcept;

// The kernel's number of the OS thread that runs the caller, which is attached.
pid_t thread_id() noexcept;

// A root brackets its regions, of `calls` calls, with these: so the core knows when it needs a slot. An outermost
// region may have to wait until it may begin (core/sched/admission.h).
void enter_region(Context* self, int calls) noexcept;
void leave_region(Context* self) noexcept;

// Makes a context that will run start(argument) once the caller launches it; null where the system refuses another
// thread. The context is free again when `start` returns. `worker_hint` spreads contexts over workers: equal hints mean
// the same worker; 0: where the caller runs.
Context* make_context(void (*start)(void*), void* argument, int worker_hint) noexcept;
// Lets a context begin; called by its maker alone. An unblock() that comes before meant an earlier life of the context,
// and has no effect. Once the context has been launched, this is unblock().
void launch(Context* context) noexcept;

// The same for several contexts, where threads have been lent to their parallel call. A woken thread may take the CPU
// from the caller. So all contexts can go on before the first thread is woken, and each wakes the next.
// take_to_launch() returns true where the caller now has `context`: it links it by `next`, and passes the chain to
// launch_together(); false: the context goes on already.
bool take_to_launch(Context* context) noexcept;
void launch_together(Context* chain) noexcept;

// hold() keeps a context that is blocked from going on until let_go(): an unblock() meanwhile has no effect. Called by
// the thread whose calls the context waits for. Returns false where the context is not blocked.
bool hold(Context* context) noexcept;
void let_go(Context* context) noexcept;

// Makes `stub` stand for a call of start(argument) by the worker with that number, from 1, under an identity that the
// worker has anyway; unblock() lets it begin. Returns false where there is no such worker, or it is spoken for: from
// make_bodiless() until release_bodiless().
bool make_bodiless(Context* stub, void (*start)(void*), void* argument, int worker_number) noexcept;
void release_bodiless(Context* stub) noexcept;

// Offers the calls 1 .. count-1 of `parallel_call`, whose `call` is set, to every carrier.
void publish(ParallelCall* parallel_call, int count) noexcept;

// Takes back the calls that have not been claimed: they are never run. Called by the publisher, before join().
void withdraw(ParallelCall* parallel_call) noexcept;

// Adds calls 1 .. count-1 to a parallel call that was published with no call but the publisher's own.
void publish_again(ParallelCall* parallel_call, int count) noexcept;

// Waits until all published calls have ended; runs calls that no other carrier claims. Returns false, before that,
// where `stop` is set and all calls are claimed, or the caller has been woken: it calls join() again later. The thread
// that sets `stop` then unblocks the parallel call's sleeper.
bool join(ParallelCall* parallel_call, const std::atomic<bool>& stop = kNever) noexcept;

}  // namespace weft::core
