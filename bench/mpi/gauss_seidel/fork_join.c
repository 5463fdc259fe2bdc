// SPDX-License-Identifier: Apache-2.0
#include "mpi/gauss_seidel/blocks.h"
#include "mpi/gauss_seidel/rows.h"
#include "mpi/gauss_seidel/versions.h"

void run_fork_join(const struct field* field, int steps) {
  struct tokens tokens = make_tokens(field);
#pragma omp parallel default(none) shared(field, tokens, steps)
#pragma omp master
  for (int step = 0; step < steps; step++) {
    exchange_before(field);
    add_block_tasks(field, &tokens);
#pragma omp taskwait
    send_last_row(field);
  }
  free_tokens(&tokens);
}
