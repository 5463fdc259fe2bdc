// SPDX-License-Identifier: Apache-2.0
// What a region of several members begins and ends with, whatever its kind: what the monitor and core are told of it.
// Internal to openmp/region.
#pragma once

#include "core/api/fork.h"
#include "core/api/records.h"
#include "openmp/library/call_policy.h"
#include "openmp/record/team.h"

namespace weft::openmp {

// words[1] is the outlined function, in both ABIs.
inline void watch(Team* team, int size, core::Context* context, void* const* words) noexcept {
  // A root's context belongs to whatever region it has begun last.
  if (context->home != nullptr) context->parallel_call.store(team, std::memory_order_relaxed);
  // Most regions are the one that the record has served last: members have its line then.
  if (team->function.load(std::memory_order_relaxed) != words[1])
    team->function.store(words[1], std::memory_order_relaxed);
  if (team->gang.load(std::memory_order_relaxed)) team->gang.store(false, std::memory_order_relaxed);
  const int lent = core::lend_to_region(team, size);
  if (team->lent != lent) team->lent = lent;
  if (g_library_calls.load(std::memory_order_relaxed)) begin_watched(team);
}

inline void end_watch(Member* primary) noexcept {
  const Team* team = primary->team;
  if (team->lent > 0) core::return_region_threads(team->lent);
  core::Context* context = primary->context;
  if (context->home != nullptr) context->parallel_call.store(primary->outer->team, std::memory_order_relaxed);
}

}  // namespace weft::openmp
