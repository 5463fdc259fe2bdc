// SPDX-License-Identifier: Apache-2.0
// What differs between the families of MPI, beside the forms of their handles. With the standard's ABI any of them may
// be there, and the launcher says which.
#pragma once

namespace weft::coll {

// How many ranks of the job are on this node, where MPI's launcher says so; else 0.
int local_ranks_by_launcher() noexcept;

// FrontSettings::pays_from; 0: as elsewhere.
int pays_from() noexcept;

// Once MPI has started: whether weft's component is for this Open MPI (openmpi/component.c), and this Open MPI knows
// where it lies. A rank that was told not to use it has no part in weft's collectives either: other ranks use it.
bool has_component() noexcept;

// Once MPI has started: whether this rank may call Fortran routines that weft does not know.
bool has_unknown_fortran() noexcept;

// Once MPI has started: whether ranks may fail and the others go on. Those would end the job where weft waits for a
// rank that has failed.
bool goes_on_without_ranks() noexcept;

}  // namespace weft::coll
