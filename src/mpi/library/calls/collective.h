// SPDX-License-Identifier: Apache-2.0
// Whether collectives are converted. A blocking collective on one rank and its non-blocking twin on another never meet:
// all ranks convert, or none does. The ranks agree once, when MPI starts: they convert if the program of one of them
// makes tasks. As a rule the twins are slower, and programs without tasks hardly call collectives where others wait for
// the CPU.
#pragma once

#include "mpi/library/runtime.h"

namespace weft::mpi {

inline std::atomic<bool> g_convert_collectives{false};

// Called by all ranks of MPI_COMM_WORLD: they convert if one of them must.
void agree_on_collectives(bool must_convert) noexcept;

// Takes the place of the runtime on a rank that has none but converts because others do: it waits as MPI does.
extern const Runtime kWithoutRuntime;

// The runtime, for collectives that can be converted; null: they go to MPI as they are.
inline const Runtime* converting_collectives() noexcept {
  // Relaxed: written before MPI_Init returns, and so before a thread may call.
  if (!g_convert_collectives.load(std::memory_order_relaxed) || t_inside > 0) return nullptr;
  const Runtime* runtime = runtime_here();
  return runtime != nullptr ? runtime : &kWithoutRuntime;
}

// For a collective that is not converted: the runtime, if a helper is to make the call since others wait for the CPU;
// or null.
const Runtime* helping_with_collective() noexcept;

}  // namespace weft::mpi
