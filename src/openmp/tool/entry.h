// SPDX-License-Identifier: Apache-2.0
// How the program's calls come in, as far as a tool is concerned. Without a tool that costs nothing: whether one may
// have to be told is decided by the look at t_member that every call takes anyway, and that finds null in a thread that
// is new here and in every thread with a tool.
#pragma once

#include <type_traits>

#include "openmp/tool/tool.h"

namespace weft::openmp {
Member* attach_member() noexcept;  // record/team.h
}

namespace weft::openmp::tool {

// A call of the program into the runtime, for as long as it lasts: its return address, and the frame of the task that
// makes it. Adapters declare one: const tool::Entry entry(WEFT_CALLER);
class Entry {
 public:
  // `requested`: the num_threads clause of a region.
  explicit Entry(const void* caller, int requested = 0) noexcept {
    if (is_on()) outer_ = enter(caller, requested);
  }
  ~Entry() {
    if (is_on()) leave(outer_);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  static const void* enter(const void* caller, int requested) noexcept;
  static void leave(const void* outer) noexcept;

  const void* outer_ = nullptr;
};

// A region that is about to be opened from `caller`, for as long as it lasts: true where the tool does not want to be
// told of it (weft_set_region_filter).
class UnwantedRegion {
 public:
  explicit UnwantedRegion(const void* caller) noexcept {
    if (is_on()) begin(caller);
  }
  ~UnwantedRegion() {
    if (member_ != nullptr) end();
  }
  UnwantedRegion(const UnwantedRegion&) = delete;
  UnwantedRegion& operator=(const UnwantedRegion&) = delete;
  explicit operator bool() const noexcept { return member_ != nullptr; }

 private:
  void begin(const void* caller) noexcept;
  void end() noexcept;

  Member* member_ = nullptr;
};

// What the two ways in give to the body; a type each, so that the body is compiled for each.
template <Listener listener>
using Known = std::integral_constant<Listener, listener>;

template <class Body>
[[gnu::noinline, gnu::cold]] auto enter_with_tool(const void* caller, int requested, const Body& body) noexcept {
  const Entry entry(caller, requested);
  Member* member = t_member;
  return body(member != nullptr ? member : attach_member(), Known<Listener::possible>(), caller);
}

// What body(member, listener, caller) returns; `caller` is the one of the function that this stands in. `requested` as
// in Entry. The body keeps copies of what it takes.
template <class Body>
[[gnu::always_inline]] inline auto enter(const Body& body, int requested = 0) noexcept {
  Member* member = t_member;
  if (__builtin_expect(member != nullptr, 1)) return body(member, Known<Listener::none>(), WEFT_CALLER);
  // A copy, so that on the short path none of it has to lie in memory.
  const Body copy = body;
  return enter_with_tool(WEFT_CALLER, requested, copy);
}

template <class Body>
[[gnu::noinline, gnu::cold]] auto enter_region_with_tool(const void* caller, int requested, const Body& body) noexcept {
  if (const UnwantedRegion unwanted(caller); unwanted) return body(caller);
  const Entry entry(caller, requested);
  return body(caller);
}

// What body(caller) returns, for calls that open a region and end it before they return: a region asks itself whether a
// tool listens.
template <class Body>
[[gnu::always_inline]] inline auto enter_region(const Body& body, int requested) noexcept {
  if (__builtin_expect(t_member != nullptr, 1)) return body(WEFT_CALLER);
  const Body copy = body;
  return enter_region_with_tool(WEFT_CALLER, requested, copy);
}

}  // namespace weft::openmp::tool
