// SPDX-License-Identifier: Apache-2.0
// Tools that stand between the program and MPI: they have an MPI_X of their own, which ends in a call of PMPI_X.
#pragma once

#include "mpi/front/targets.h"

namespace weft::mpi {

// Whether a tool has been loaded before this library, and so is called before it.
bool has_tool() noexcept;

// From now on a call of PMPI_X by those tools goes to `replacement_for("MPI_X")`, where that is not null. Tools that
// were loaded after this library are not called; a message names the first of them.
void put_behind_tools() noexcept;

}  // namespace weft::mpi
