// SPDX-License-Identifier: Apache-2.0
// The door to tools: the events that a tool is told of. Code of the runtime says what has happened, as in
// tool::begin_taskgroup(self), and does nothing else for a tool. event_bodies.h says what each event is about.
#pragma once

#include "openmp/tool/event_bodies.h"
#include "openmp/tool/tool.h"

namespace weft::openmp::tool {

// An event: without a tool a test that fails, with one a call of Body.
template <auto Body>
struct Event;
template <class... Parameters, void (*Body)(Parameters...) noexcept>
struct Event<Body> {
  [[gnu::always_inline]] void operator()(Parameters... parameters) const noexcept {
    if (is_on()) Body(parameters...);
  }
  // The same by what the caller knows.
  [[gnu::always_inline]] void operator()(Listener listener, Parameters... parameters) const noexcept {
    if (is_on(listener)) Body(parameters...);
  }
};

// A construct that looks otherwise to a tool, which sees more than one event. True: there is a tool, and Body has done
// what the construct does. False: the caller is to do it.
template <auto Body>
struct ReportedConstruct;
template <class... Parameters, void (*Body)(Parameters...) noexcept>
struct ReportedConstruct<Body> {
  [[nodiscard, gnu::always_inline]] bool operator()(Parameters... parameters) const noexcept {
    return (*this)(Listener::possible, parameters...);
  }
  [[nodiscard, gnu::always_inline]] bool operator()(Listener listener, Parameters... parameters) const noexcept {
    if (!is_on(listener)) return false;
    Body(parameters...);
    return true;
  }
};

// ---- threads and regions ----

inline constexpr Event<ompt::begin_root> begin_root;
inline constexpr Event<ompt::end_root> end_root;
inline constexpr Event<ompt::begin_parallel> begin_parallel;
inline constexpr Event<ompt::begin_member> begin_member;
inline constexpr Event<ompt::end_member> end_member;
inline constexpr Event<ompt::end_primary> end_primary;
inline constexpr Event<ompt::end_parallel> end_parallel;
inline constexpr Event<ompt::begin_agent> begin_agent;
inline constexpr Event<ompt::begin_stand_in> begin_stand_in;
inline constexpr Event<ompt::end_stand_in> end_stand_in;
inline constexpr Event<ompt::begin_league> begin_league;
inline constexpr Event<ompt::end_league> end_league;
inline constexpr Event<ompt::begin_initial> begin_initial;
inline constexpr Event<ompt::end_initial> end_initial;

// ---- synchronization ----

inline constexpr ReportedConstruct<ompt::barrier> barrier;
inline constexpr ReportedConstruct<ompt::task_wait> task_wait;
inline constexpr ReportedConstruct<ompt::task_yield> task_yield;
inline constexpr Event<ompt::begin_taskgroup> begin_taskgroup;
inline constexpr ReportedConstruct<ompt::end_taskgroup> end_taskgroup;
inline constexpr Event<ompt::begin_reduction> begin_reduction;
inline constexpr Event<ompt::end_reduction> end_reduction;
inline constexpr Event<ompt::cancel> cancel;
inline constexpr Event<ompt::doacross> doacross;
inline constexpr Event<ompt::flush> flush;
inline constexpr Event<ompt::error> error;

// ---- mutual exclusion ----

inline constexpr ReportedConstruct<ompt::begin_ordered> begin_ordered;
inline constexpr Event<ompt::end_ordered> end_ordered;
inline constexpr Event<ompt::init_lock> init_lock;
inline constexpr Event<ompt::destroy_lock> destroy_lock;

// ---- worksharing ----

inline constexpr Event<ompt::begin_work> begin_work;
inline constexpr Event<ompt::begin_loop> begin_loop;
inline constexpr Event<ompt::end_work> end_work;
inline constexpr Event<ompt::close_work> close_work;
inline constexpr Event<ompt::begin_task_loop> begin_task_loop;
inline constexpr Event<ompt::end_task_loop> end_task_loop;
inline constexpr Event<ompt::announce_chunk> announce_chunk;
inline constexpr Event<ompt::begin_single> begin_single;
inline constexpr Event<ompt::end_single> end_single;
inline constexpr Event<ompt::dispatch_static> dispatch_static;
inline constexpr Event<ompt::begin_masked> begin_masked;
inline constexpr Event<ompt::end_masked> end_masked;

// ---- explicit tasks ----

inline constexpr Event<ompt::create_task> create_task;
inline constexpr Event<ompt::create_undeferred> create_undeferred;
inline constexpr Event<ompt::create_spawned> create_spawned;
inline constexpr Event<ompt::start_task> start_task;
inline constexpr Event<ompt::end_task> end_task;
inline constexpr Event<ompt::discard> discard;
inline constexpr Event<ompt::return_memory> return_memory;
inline constexpr Event<ompt::take_returned_memory> take_returned_memory;
inline constexpr Event<ompt::fulfill> fulfill;
inline constexpr Event<ompt::complete_detached> complete_detached;
inline constexpr Event<ompt::begin_task_wait_for> begin_task_wait_for;
inline constexpr Event<ompt::end_task_wait_for> end_task_wait_for;
inline constexpr Event<ompt::depend> depend;

// ---- what has an answer, or is rare: the caller has asked is_on() ----

using ompt::acquire;
using ompt::chunks_left;
using ompt::control;
using ompt::dispatch;
using ompt::enter_call;
using ompt::leave_call;
using ompt::release;
using ompt::try_acquire;

// ---- by callers that have asked is_active() ----

using ompt::end_agent;
using ompt::end_worker;

using ompt::has_body;

}  // namespace weft::openmp::tool
