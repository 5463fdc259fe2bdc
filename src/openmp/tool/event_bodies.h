// SPDX-License-Identifier: Apache-2.0
// What happens at each event when a tool is told of it: out of line, in openmp/ompt. Everything else in the runtime
// includes tool/events.h.
#pragma once

#include <cstdint>

#include "base/options.h"
#include "openmp/tool/lock_word.h"
#include "openmp/tool/records.h"

namespace weft::openmp {

struct Member;
struct Task;
struct TaskClauses;
struct Team;
struct Dependence;
struct Chunk;
enum class Barrier : uint8_t;
enum class Construct : uint8_t;

namespace ompt {

// ---- calls of the program without an Entry (startup.cpp) ----

// They come too often for one.
void enter_call() noexcept;
void leave_call() noexcept;

// ---- threads and regions (regions.cpp) ----

// A thread of the program's meets OpenMP, or ends.
void begin_root(Member* initial) noexcept;
void end_root(Member* initial) noexcept;

// An identity of the pool's ends.
void end_worker() noexcept;

// A region of `team` is about to begin: nobody runs it yet.
void begin_parallel(Team* team, Member* parent) noexcept;
// The caller is about to run the member's part of the region, or the initial task of a team of a league.
void begin_member(Member* member) noexcept;
// The caller is about to run tasks of other teams (free_agent.h), or has: to a tool its own is an initial task.
void begin_agent(Member* agent) noexcept;
void end_agent(Member* agent) noexcept;
// The same in place of a member whose task is paused (stand_in.h): the region has its implicit task already.
void begin_stand_in(Member* member) noexcept;
void end_stand_in(Member* member) noexcept;
// It has run the part. `with_barrier`: the members of the team wait for each other here, and help with tasks, since a
// tool must not see the implicit tasks end before.
void end_member(Member* member, bool with_barrier) noexcept;
// The same for member 0, before and after it has waited for the others.
void end_primary(Member* primary, bool with_barrier) noexcept;
void end_parallel(Member* primary) noexcept;

// A league: as begin_parallel and end_parallel, around run_league's region; its initial tasks are begun and ended by
// begin_member and end_initial.
void begin_league(Member* encountering, int teams, tool::TeamInfo* league) noexcept;
void end_league(Member* encountering, tool::TeamInfo* league) noexcept;
void begin_initial(Member* initial, tool::TeamInfo* league) noexcept;
void end_initial(Member* initial) noexcept;

// ---- synchronization (synchronization.cpp) ----

void barrier(Member* self, Barrier kind, const void* caller) noexcept;
void task_wait(Member* self, const void* caller) noexcept;
void task_yield(Member* self, const void* caller) noexcept;
void begin_taskgroup(Member* self) noexcept;
void end_taskgroup(Member* self) noexcept;
void begin_reduction(Member* self) noexcept;
void end_reduction(Member* self) noexcept;
void cancel(Member* self, Construct construct, bool detected) noexcept;
// A wait of a doacross loop (sink), which is over, or a post (source), which is about to happen: `count` loops, and
// where in them, as far as the interface says.
void doacross(Member* self, ompt_dependence_type_t kind, const uint64_t* at, int count) noexcept;
void flush(const void* caller) noexcept;
// omp_control_tool: the callback's answer.
int control(uint64_t command, uint64_t modifier, void* argument, const void* caller) noexcept;
// The error directive; `message` may be null.
void error(bool fatal, const char* message, size_t length) noexcept;

// ---- mutual exclusion (mutexes.cpp) ----

void acquire(LockWord& word, ompt_mutex_t kind, const void* caller) noexcept;
bool try_acquire(LockWord& word, const void* caller) noexcept;
// It has been given back.
void release(LockWord& word, ompt_mutex_t kind, const void* caller) noexcept;
int acquire(NestLock& nest, const void* task, const void* caller) noexcept;
int try_acquire(NestLock& nest, const void* task, const void* caller) noexcept;
int release(NestLock& nest, const void* caller) noexcept;
void begin_ordered(Member* self) noexcept;
void end_ordered(Member* self) noexcept;
// A lock variable comes, with the hint it was given, or goes.
void init_lock(const void* lock, ompt_mutex_t kind, unsigned hint, const void* caller) noexcept;
void destroy_lock(const void* lock, ompt_mutex_t kind, const void* caller) noexcept;

// ---- worksharing (work.cpp) ----

void begin_work(Member* self, ompt_work_t work, uint64_t count) noexcept;
void begin_loop(Member* self, base::LoopSchedule::Kind kind, uint64_t count) noexcept;
// `caller`: null where an Entry has noted it.
void end_work(Member* self, const void* caller) noexcept;
// Where a member meets a barrier or the next construct it has left the last one, of which the interface may not tell:
// single by gcc, loops that were cancelled.
void close_work(Member* self) noexcept;
// Unlike the others it may stand inside another one: its end is said.
void begin_task_loop(Member* self, uint64_t count) noexcept;
void end_task_loop(Member* self, uint64_t count) noexcept;
// The task that the caller creates next is to run `count` iterations of a taskloop, from the value `first` on.
void announce_chunk(uint64_t first, uint64_t count) noexcept;
void begin_single(Member* self, bool executes) noexcept;
void end_single(Member* self, const void* caller) noexcept;
// Returns how many of the chunks that the member takes next are not reported; chunks_left() where the loop has fewer.
uint32_t dispatch(Member* self, const Chunk& chunk) noexcept;
void chunks_left(uint32_t chunks) noexcept;
// Iterations dealt out without a call for each chunk: `count` of them from the value `first` on.
void dispatch_static(Member* self, uint64_t first, uint64_t count) noexcept;
void begin_masked(Member* self, const void* caller) noexcept;
void end_masked(Member* self, const void* caller) noexcept;

// ---- explicit tasks (tasks.cpp) ----

void create_task(Member* self, Task* task, const TaskClauses& clauses) noexcept;
void create_undeferred(Member* self, Task* task) noexcept;
// `task` is a spawned one (spawned.h): a deferred task of the caller's to a tool.
void create_spawned(Member* self, Task* task) noexcept;
// `task` goes on the caller's stack, on top of what the member runs; and it has returned.
void start_task(Member* self, Task* task) noexcept;
void end_task(Member* self, Task* task) noexcept;
// Its construct has been cancelled: in place of its body.
void discard(Task* task) noexcept;
// The body of a task that create_task() has reported: its own between the two. So the code that runs a task need not
// ask.
void run_reported(Task* task);
bool has_body(const Task* task, void (*body)(Task* task)) noexcept;
// The memory of a task goes back to its pool from another thread; and the pool takes all that has come back.
void return_memory(const void* pool) noexcept;
void take_returned_memory(const void* pool) noexcept;
// The event of a detachable task is being fulfilled; and the second of body and event has happened.
void fulfill(Task* task) noexcept;
void complete_detached(Task* task) noexcept;
// A taskwait with dependences, by a task record that stands for it.
void begin_task_wait_for(Member* self, Task* stand_in, const Dependence* list, int count) noexcept;
void end_task_wait_for(Member* self, Task* stand_in) noexcept;
void depend(Task* predecessor, Task* successor) noexcept;

}  // namespace ompt
}  // namespace weft::openmp
