// SPDX-License-Identifier: Apache-2.0
// What weft/mpi.h and weft/TAMPI.h declare.
#pragma once

#include "mpi/link.h"

namespace weft::mpi {

extern const Replacements kTampiReplacements;

}  // namespace weft::mpi
