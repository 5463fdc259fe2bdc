// SPDX-License-Identifier: Apache-2.0
// The table of calls: what replaces each of MPI's functions.
#pragma once

#include "mpi/library/mpi.h"
#include "mpi/link.h"

namespace weft::mpi {

extern const Replacements kReplacements;

// The same for large counts, which MPIs have from version 4 of the standard on.
extern const Replacements kLargeReplacements;

}  // namespace weft::mpi
