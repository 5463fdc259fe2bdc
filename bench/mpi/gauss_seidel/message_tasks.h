// SPDX-License-Identifier: Apache-2.0
// Tasks that compute and tasks that send or receive one block's row, with dependences only: what Sentinel and both
// Interop versions share. Nothing is waited for between two sweeps.
#pragma once

#include <stdbool.h>

#include "mpi/common/calls.h"
#include "mpi/gauss_seidel/field.h"

// `one_at_a_time`: an artificial dependence orders all tasks with messages.
void run_message_tasks(const struct field* field, int steps, const struct calls* calls, bool one_at_a_time);
