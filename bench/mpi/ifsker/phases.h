// SPDX-License-Identifier: Apache-2.0
// One phase of a step after the other: what Pure MPI and Fork-Join share.
#pragma once

#include "mpi/ifsker/model.h"

// A piece of the work of a phase: of a field, and a block, level or rank.
typedef void piece_of_work(const struct model* model, int field, int index);
// Does the pieces of all fields with an index from 0 to below `count`.
typedef void do_phase(const struct model* model, piece_of_work* work, int count);

// All messages of a phase are under way at once.
void run_phases(const struct model* model, do_phase* phase);
