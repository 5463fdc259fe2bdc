// SPDX-License-Identifier: Apache-2.0
// The versions of the Gauss-Seidel method, a file each. The names are those of Sala et al., "Integrating blocking and
// non-blocking MPI primitives with task-based programming models" (Parallel Computing 85, 2019), section 7.1.
#pragma once

#include "mpi/gauss_seidel/field.h"

// No messages: only on one rank.
void run_sequential(const struct field* field, int steps);
// One block per rank, whole rows as messages, blocking calls.
void run_pure_mpi(const struct field* field, int steps);
// A rank's rows in blocks of columns, which are exchanged as soon as they can be, by non-blocking calls.
void run_n_buffer(const struct field* field, int steps);
// Tasks compute, and are waited for before and after the messages of a sweep, which are whole rows.
void run_fork_join(const struct field* field, int steps);
// Tasks compute, and tasks with blocking calls exchange blocks, one of these at a time.
void run_sentinel(const struct field* field, int steps);
// The same without that order among the messages.
void run_interop_blk(const struct field* field, int steps);
// The same, and a task that sends or receives does not wait: it has ended when its request has completed.
void run_interop_nonblk(const struct field* field, int steps);
