// SPDX-License-Identifier: Apache-2.0
// What an event is to the accounts. The recorder asks when the event happens, and `weft report` when it reads a trace:
// so both find the same nodes.
#pragma once

#include "observe/account/shown.h"
#include "observe/format/events.h"

namespace weft::observe {

// The kind of the node that the context enters.
constexpr Kind kind_of(Event event) noexcept {
  switch (event) {
    case Event::serial: return Kind::serial;
    case Event::member: return Kind::region;
    case Event::task: return Kind::task;
    case Event::sections: return Kind::sections;
    case Event::single: return Kind::single;
    case Event::masked: return Kind::masked;
    case Event::taskloop: return Kind::taskloop;
    case Event::barrier: return Kind::barrier;
    case Event::critical:
    case Event::in_critical: return Kind::critical;
    case Event::ordered:
    case Event::in_ordered: return Kind::ordered;
    case Event::lock: return Kind::lock;
    default: return Kind::loop;
  }
}

constexpr State state_of(Event event) noexcept {
  switch (event) {
    case Event::barrier:
    case Event::implicit_barrier: return State::wait_barrier;
    case Event::tasks: return State::wait_tasks;
    case Event::critical:
    case Event::ordered:
    case Event::lock: return State::wait_lock;
    default: return State::work;
  }
}

// A construct by which the implicit barrier behind it is named.
constexpr bool names_waits(Event event) noexcept {
  return event == Event::loop || event == Event::sections || event == Event::single || event == Event::taskloop;
}

}  // namespace weft::observe
