// SPDX-License-Identifier: Apache-2.0
// The versions of the mock-up, a file each. The names are those of Sala et al. (Parallel Computing 85, 2019),
// section 7.
#pragma once

#include "mpi/ifsker/model.h"

// One phase after the other; all messages of a phase at once.
void run_pure_mpi(const struct model* model);
// The same, and the phases without messages are parallel loops.
void run_fork_join(const struct model* model);
// Tasks compute, and tasks with blocking calls send and receive, with dependences only.
void run_interop_blk(const struct model* model);
// The same, and a task that sends or receives does not wait: it has ended when its request has completed.
void run_interop_nonblk(const struct model* model);
