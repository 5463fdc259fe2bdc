// SPDX-License-Identifier: Apache-2.0
// What is called in the place of each of MPI's functions.
#pragma once

#include "mpi/link.h"

namespace weft::mpi {

extern const Replacements kReplacements;

}  // namespace weft::mpi
