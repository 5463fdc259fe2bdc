// SPDX-License-Identifier: Apache-2.0
// Replacements of Open MPI's Fortran routines, which call no function of C that could be replaced.
#pragma once

#include "mpi/link.h"

namespace weft::mpi {

// A row serves a routine of mpif.h, of `use mpi` and of `use mpi_f08`: handles are numbers, or structures of one
// number; all arguments are passed by address, and in mpi_f08 the address of the error may be null.
extern const Replacements kFortranReplacements;

}  // namespace weft::mpi
