// SPDX-License-Identifier: Apache-2.0
// The non-blocking mode of task-aware MPI: a task ends when its body has ended and its requests have completed.
#pragma once

#include <stdbool.h>

// Whether a library of task-aware MPI is in the process.
bool events_are_there(void);
