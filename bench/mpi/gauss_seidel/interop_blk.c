// SPDX-License-Identifier: Apache-2.0
#include "mpi/gauss_seidel/message_tasks.h"
#include "mpi/gauss_seidel/versions.h"

void run_interop_blk(const struct field* field, int steps) { run_message_tasks(field, steps, &blocking_calls, false); }
