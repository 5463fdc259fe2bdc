// SPDX-License-Identifier: Apache-2.0
// How the program's calls come in where speed counts. Each is compiled twice: for threads that are known to have no
// tool to tell, and for all others, which ask. Without a tool that costs nothing: the two are told apart by the look at
// t_member that every call takes anyway, and that finds null in a thread that is new here and in every thread with a
// tool.
#pragma once

#include <type_traits>

#include "openmp/record/team.h"
#include "openmp/tool/tool.h"

namespace weft::openmp::ompt {

template <class Body>
[[gnu::noinline, gnu::cold]] auto enter_told(const void* caller, int requested, const Body& body) noexcept {
  const Entry entry(caller, requested);
  return body(self(), std::true_type(), caller);
}

// What body(member, told, caller) returns; `told` becomes the argument Told of what it calls, `caller` is the one of
// the function that this stands in. `requested` as in Entry. The body keeps copies of what it takes.
template <class Body>
[[gnu::always_inline]] inline auto enter(const Body& body, int requested = 0) noexcept {
  Member* member = t_member;
  if (__builtin_expect(member != nullptr, 1)) return body(member, std::false_type(), WEFT_CALLER);
  // A copy, so that on the short path none of it has to lie in memory.
  const Body copy = body;
  return enter_told(WEFT_CALLER, requested, copy);
}

template <class Body>
[[gnu::noinline, gnu::cold]] auto enter_told_region(const void* caller, int requested, const Body& body) noexcept {
  if (const Untold untold(caller); untold) return body(t_member, std::false_type(), caller);
  return enter_told(caller, requested, body);
}

// As enter(), for calls that open a region, and end it before they return.
template <class Body>
[[gnu::always_inline]] inline auto enter_region(const Body& body, int requested) noexcept {
  Member* member = t_member;
  if (__builtin_expect(member != nullptr, 1)) return body(member, std::false_type(), WEFT_CALLER);
  const Body copy = body;
  return enter_told_region(WEFT_CALLER, requested, copy);
}

}  // namespace weft::openmp::ompt
