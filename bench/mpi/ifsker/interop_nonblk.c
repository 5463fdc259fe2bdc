// SPDX-License-Identifier: Apache-2.0
#include "mpi/ifsker/message_tasks.h"
#include "mpi/ifsker/versions.h"

void run_interop_nonblk(const struct model* model) { run_message_tasks(model, &event_calls); }
