// SPDX-License-Identifier: Apache-2.0
// The non-blocking mode of task-aware MPI: a task ends when its body has ended and its requests have completed.
#pragma once

#include <mpi.h>
#include <stdbool.h>

// Null where no library of task-aware MPI is in the process.
int TAMPI_Iwait(MPI_Request* request, MPI_Status* status) __attribute__((weak));

static inline bool events_are_there(void) { return TAMPI_Iwait != 0; }
