// SPDX-License-Identifier: Apache-2.0
// Whether a tool listens (OMPT; docs/explanation/ompt.md).
#pragma once

#include <atomic>
#include <cstdint>

// Who has called the runtime, in a function that the program calls.
#define WEFT_CALLER __builtin_return_address(0)

namespace weft::openmp {
struct Member;

// The caller as a thread of OpenMP (record/team.h). Null in a thread that is new here, and where a tool is told of what
// the thread does.
extern constinit thread_local Member* t_member;
}  // namespace weft::openmp

namespace weft::openmp::tool {

enum State : uint32_t {
  kNone,  // no tool, or it has been finalized
  kActive,
  kUnknown,  // nobody has looked for one yet: the first event does
};

// Read by threads without a member and where a region begins and ends for one of its members, written twice per
// process: alone on its line. Relaxed: a thread that finds it active late reports late; what a tool has registered is
// published by the callbacks themselves.
struct alignas(64) Presence {
  std::atomic<uint32_t> state{kUnknown};
};
extern Presence g_presence;

// Looks for a tool, once a process, and starts it; whether there is one.
bool start() noexcept;

inline bool is_present() noexcept {
  const uint32_t state = g_presence.state.load(std::memory_order_relaxed);
  if (__builtin_expect(state == kNone, 1)) return false;
  return state == kActive || start();
}

// Whether a tool has been found. Never looks for one: so members run in regions that a tool opens while it is looked
// for.
inline bool is_active() noexcept { return g_presence.state.load(std::memory_order_relaxed) == kActive; }

// Whether the tool is told of what the caller does. In a region that it does not want (UnwantedRegion) t_member is set,
// as it is without a tool; so most callers look at nothing else.
inline bool is_on() noexcept { return __builtin_expect(t_member == nullptr, 0) && is_present(); }

// What a call of the program knows when it has come in (entry.h). Functions that take it are inlined, so without a tool
// the cheapest constructs ask nothing.
enum class Listener : bool {
  none,  // the tool, if there is one, is not told of this
  possible,  // ask
};
[[gnu::always_inline]] inline bool is_on(Listener listener) noexcept {
  return listener == Listener::possible && is_on();
}

// For a caller that has several events to report.
inline Listener listener() noexcept {
  return __builtin_expect(t_member != nullptr, 1) ? Listener::none : Listener::possible;
}

// The tool's finalizer; no events after it. Does nothing the second time.
void finalize() noexcept;

}  // namespace weft::openmp::tool
