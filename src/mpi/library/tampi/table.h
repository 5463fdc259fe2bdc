// SPDX-License-Identifier: Apache-2.0
// The functions that weft/mpi.h and weft/TAMPI.h declare, by name.
#pragma once

#include "mpi/link.h"

namespace weft::mpi {

extern const Replacements kTampiReplacements;

}  // namespace weft::mpi
