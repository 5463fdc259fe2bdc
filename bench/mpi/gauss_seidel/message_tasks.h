// SPDX-License-Identifier: Apache-2.0
// Tasks that compute and tasks that send or receive one block's row, with dependences only: what Sentinel and both
// Interop versions share. Nothing is waited for between two sweeps.
#pragma once

#include <stdbool.h>

#include "mpi/gauss_seidel/field.h"

// How a task sends and receives.
struct calls {
  void (*send)(const double* row, int count, int rank, int tag, MPI_Comm comm);
  void (*receive)(double* row, int count, int rank, int tag, MPI_Comm comm);
};

// MPI_Send and MPI_Recv.
extern const struct calls blocking_calls;

// `one_at_a_time`: an artificial dependence orders all tasks with messages.
void run_message_tasks(const struct field* field, int steps, const struct calls* calls, bool one_at_a_time);
