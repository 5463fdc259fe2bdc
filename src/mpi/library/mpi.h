// SPDX-License-Identifier: Apache-2.0
// The mpi.h of the MPI that the library is built for, without the bindings for C++ that MPI has withdrawn.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
