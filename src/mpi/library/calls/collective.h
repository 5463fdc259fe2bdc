// SPDX-License-Identifier: Apache-2.0
// A blocking collective call on one rank and its non-blocking twin on another never meet: all ranks convert, or none.
// What they do is settled once, when MPI starts.
#pragma once

#include "mpi/library/runtime.h"

namespace weft::mpi {

inline std::atomic<bool> g_convert_collectives{false};

// By all ranks of MPI_COMM_WORLD: they convert if one of them has the runtime.
void agree_on_collectives() noexcept;

// In the place of the runtime, on a rank that has none but converts because others do: it waits as MPI does.
extern const Runtime kWithoutRuntime;

// The runtime, for collectives that can be converted; null: they go to MPI as they are.
inline const Runtime* converting_collectives() noexcept {
  // Relaxed: written before MPI_Init returns, and so before a thread may call.
  if (!g_convert_collectives.load(std::memory_order_relaxed) || t_inside > 0) return nullptr;
  const Runtime* runtime = converting();
  return runtime != nullptr ? runtime : &kWithoutRuntime;
}

}  // namespace weft::mpi
