// SPDX-License-Identifier: Apache-2.0
// The mpi.h of the ABI that the library is built for (src/mpi/declarations).
#pragma once

#include <mpi.h>
