// SPDX-License-Identifier: Apache-2.0
// What differs between the families of MPI, beside the forms of their handles. With the standard's ABI any of them may
// be there, and the launcher says which.
#pragma once

namespace weft::coll {

// How many ranks of the job are on this node, where MPI's launcher says so; else 0.
int local_ranks_by_launcher() noexcept;

// FrontSettings::pays_from; 0: as elsewhere.
int pays_from() noexcept;

// Once MPI has started: whether weft's component is in this process and serves it (openmpi/component.c).
bool has_component() noexcept;

}  // namespace weft::coll
