// SPDX-License-Identifier: Apache-2.0
// What the files of the KMP adapter share: the __kmpc_ interface that clang emits (LLVM 19). The functions
// translate arguments and call openmp/. The global thread number that the interface passes around is only ever
// handed back to us, and the calling thread is known better from its own state; so it is not used.
#pragma once

#include <cstdint>

#include "openmp/abi/abi.h"
#include "openmp/loop/worksharing.h"
#include "openmp/record/team.h"
#include "openmp/region/region.h"
#include "openmp/team/barrier.h"
#include "openmp/tool/entry.h"
#include "openmp/tool/events.h"

namespace weft::openmp::kmp {

// The source location that every call brings.
struct Ident {
  int32_t reserved_1;
  int32_t flags;
  int32_t reserved_2;
  int32_t reserved_3;
  const char* source;
};

// Flags of a location: the compiler has made an atomic variant of the reduction; what a barrier or a loop belongs to.
constexpr int32_t kAtomicReduce = 0x10;
constexpr int32_t kImplicitBarrier = 0x40;
constexpr int32_t kWorkSections = 0x400;
constexpr int32_t kWorkDistribute = 0x800;

inline Barrier barrier_of(const Ident* location) noexcept {
  return location != nullptr && (location->flags & kImplicitBarrier) != 0 ? Barrier::end_of_workshare
                                                                          : Barrier::construct;
}

using Microtask = void (*)(int32_t* gtid, int32_t* tid, ...);

// A critical section's name: zeroed by the compiler, 32 bytes.
using CriticalName = int32_t[8];

}  // namespace weft::openmp::kmp
