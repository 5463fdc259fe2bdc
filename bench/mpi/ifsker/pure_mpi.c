// SPDX-License-Identifier: Apache-2.0
#include "mpi/ifsker/phases.h"
#include "mpi/ifsker/versions.h"

static void do_all(const struct model* model, piece_of_work* work, int count) {
  for (int field = 0; field < model->problem.fields; field++) {
    for (int index = 0; index < count; index++) work(model, field, index);
  }
}

void run_pure_mpi(const struct model* model) { run_phases(model, do_all); }
