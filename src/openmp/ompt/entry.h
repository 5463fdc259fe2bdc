// SPDX-License-Identifier: Apache-2.0
// How the program's calls come in where speed counts. Each is compiled twice: for threads that are known to have no tool
// to tell, and for all others, which ask. Without a tool that costs nothing: the two are told apart by the look at t_member
// that every call takes anyway, and that finds null in a thread that is new here and in every thread with a tool.
#pragma once

#include <type_traits>

#include "openmp/ompt/tool.h"
#include "openmp/team.h"

namespace weft::openmp::ompt {

template <class Body>
[[gnu::noinline, gnu::cold]] auto enter_told(const void* caller, int requested, Body body) noexcept {
  const Entry entry(caller, requested);
  return body(self(), std::true_type());
}

// What body(member, told) returns; `told` becomes the argument Told of what it calls. `caller` and `requested` as in
// Entry. The body keeps copies: what it took by reference would have to lie in memory on the short path too.
template <class Body>
[[gnu::always_inline]] inline auto enter(const void* caller, Body body, int requested = 0) noexcept {
  Member* member = t_member;
  if (__builtin_expect(member != nullptr, 1)) return body(member, std::false_type());
  return enter_told(caller, requested, body);
}

}  // namespace weft::openmp::ompt
