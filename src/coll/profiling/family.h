// SPDX-License-Identifier: Apache-2.0
// What differs between the families of MPI that a library is built for.
#pragma once

#include "coll/profiling/process_mpi.h"
#include "mpi/front/mapped.h"

namespace weft::coll {

#ifdef OPEN_MPI
inline constexpr mpi::Kind kFamily = mpi::Kind::open_mpi;
// Its launcher's variable: how many ranks of the job are on this node.
inline constexpr const char* kLocalRanks = "OMPI_COMM_WORLD_LOCAL_SIZE";
// FrontSettings::pays_from; 0: as elsewhere.
inline constexpr int kPaysFrom = 0;
#else
inline constexpr mpi::Kind kFamily = mpi::Kind::mpich;
inline constexpr const char* kLocalRanks = "MPI_LOCALNRANKS";
// A rank that waits in MPICH never gives its CPU away. So weft saves more there, and pays sooner.
inline constexpr int kPaysFrom = 16;
#endif

// Once MPI has started: whether weft's component is in this process and serves it (openmpi/component.c).
bool has_component() noexcept;

}  // namespace weft::coll
