// SPDX-License-Identifier: Apache-2.0
// Whole rows as messages, by blocking calls, around a sweep: what Pure MPI and Fork-Join share.
#pragma once

#include "mpi/gauss_seidel/field.h"

// Before a sweep: the rank above gets the first row as it still is, and the border is filled.
void exchange_before(const struct field* field);
// Behind it: the rank below gets the last row.
void send_last_row(const struct field* field);
