// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "mpi/common/job.h"
#include "mpi/gauss_seidel/versions.h"

// The requests of one block of columns.
enum { to_above, from_above, to_below, from_below, request_count };

// What the next sweep over the block needs from the neighbours, and what they need of this rank's first row.
static void begin_exchange(const struct field* field, int block_col, MPI_Request* requests) {
  const struct span cols = cols_of_block(field, block_col);
  MPI_Isend(cell(field, 1, cols.first), cols.count, MPI_DOUBLE, field->above, block_col, field->comm,
            &requests[to_above]);
  MPI_Irecv(cell(field, 0, cols.first), cols.count, MPI_DOUBLE, field->above, block_col, field->comm,
            &requests[from_above]);
  MPI_Irecv(cell(field, field->rows + 1, cols.first), cols.count, MPI_DOUBLE, field->below, block_col, field->comm,
            &requests[from_below]);
}

void run_n_buffer(const struct field* field, int steps) {
  MPI_Request(*requests)[request_count] = allocated((size_t)field->block_cols, sizeof *requests);
  for (int block = 0; block < field->block_cols; block++) {
    requests[block][to_below] = MPI_REQUEST_NULL;
    begin_exchange(field, block, requests[block]);
  }
  for (int step = 0; step < steps; step++) {
    for (int block = 0; block < field->block_cols; block++) {
      const struct span cols = cols_of_block(field, block);
      MPI_Waitall(request_count, requests[block], MPI_STATUSES_IGNORE);
      sweep(field, (struct span){1, field->rows}, cols);
      MPI_Isend(cell(field, field->rows, cols.first), cols.count, MPI_DOUBLE, field->below, block, field->comm,
                &requests[block][to_below]);
      if (step + 1 < steps) begin_exchange(field, block, requests[block]);
    }
  }
  MPI_Waitall(field->block_cols * request_count, requests[0], MPI_STATUSES_IGNORE);
  free(requests);
}
