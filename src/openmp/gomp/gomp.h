// SPDX-License-Identifier: Apache-2.0
// What the files of the GOMP adapter share. The functions' contracts are gcc 12's (libgomp.map, libgomp_g.h);
// they translate arguments and call openmp/.
#pragma once

#include "openmp/abi/abi.h"
#include "openmp/loop/worksharing.h"
#include "openmp/record/team.h"
#include "openmp/region/region.h"
#include "openmp/team/barrier.h"
#include "openmp/tool/entry.h"
#include "openmp/tool/events.h"

namespace weft::openmp::gomp {

using Function = void (*)(void* data);

// Post words of a GOMP region.
inline void run_function(void* const* words, int) noexcept { reinterpret_cast<Function>(words[1])(words[2]); }

// The num_threads clause, and the proc_bind clause from the lowest bits of the flags.
inline Clauses clauses(unsigned threads, unsigned flags = 0) noexcept {
  constexpr unsigned kBindMask = 7;
  constexpr auto kMost = static_cast<unsigned>(base::ProcBind::spread);
  const unsigned bind = flags & kBindMask;
  return {static_cast<int>(threads), static_cast<base::ProcBind>(bind <= kMost ? bind : 0)};
}

struct Region {
  void* words[core::Post::kWords];
  Region(Function function, void* data) noexcept
      : words{nullptr, reinterpret_cast<void*>(function), data, nullptr, nullptr, nullptr} {}
};

// In ascending order for each member. The specification lets schedule(dynamic) hand out chunks in any order, and gcc
// calls such loops nonmonotonic; but libgomp has them in order always, and programs that were never run on anything
// else rely on it.
inline base::LoopSchedule schedule(base::LoopSchedule::Kind kind) noexcept {
  base::LoopSchedule result{};
  result.kind = kind;
  result.monotonic = true;
  return result;
}

// What run-sched-var says, by which GOMP_loop_runtime goes.
inline base::LoopSchedule runtime_schedule(Member* self, uint64_t* chunk) noexcept {
  base::LoopSchedule said = icvs(self).run_schedule;
  *chunk = static_cast<uint64_t>(said.chunk);
  said.monotonic = true;
  return said;
}

}  // namespace weft::openmp::gomp
