// SPDX-License-Identifier: Apache-2.0
#include "mpi/ifsker/phases.h"

#include <stdlib.h>

#include "mpi/common/job.h"
#include "mpi/ifsker/messages.h"

static int begin_with(const struct model* model, enum way way, int field, int rank, MPI_Request* requests) {
  const int i = pair(model, field, rank), tag = tag_of(field, way);
  const int point_count = point_side_count(model, rank), level_count = level_side_count(model, rank);
  if (way == columns_to_lines) {
    MPI_Irecv(model->level_side[i], level_count, MPI_DOUBLE, rank, tag, model->comm, &requests[0]);
    MPI_Isend(model->point_side[i], point_count, MPI_DOUBLE, rank, tag, model->comm, &requests[1]);
  } else {
    MPI_Irecv(model->point_side[i], point_count, MPI_DOUBLE, rank, tag, model->comm, &requests[0]);
    MPI_Isend(model->level_side[i], level_count, MPI_DOUBLE, rank, tag, model->comm, &requests[1]);
  }
  return 2;
}

static void exchange_all(const struct model* model, enum way way) {
  const int pairs = model->problem.fields * model->ranks;
  MPI_Request* requests = allocated(2 * (size_t)pairs, sizeof *requests);
  int count = 0;
  for (int field = 0; field < model->problem.fields; field++) {
    // Each rank begins with the one behind it, so that not all send to the same one.
    for (int i = 1; i < model->ranks; i++)
      count += begin_with(model, way, field, (model->rank + i) % model->ranks, requests + count);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  free(requests);
}

void run_phases(const struct model* model, do_phase* phase) {
  for (int step = 0; step < model->problem.steps; step++) {
    phase(model, compute_block, model->blocks);
    phase(model, pack_columns, model->ranks);
    exchange_all(model, columns_to_lines);
    phase(model, unpack_lines, model->ranks);
    phase(model, transform_level, model->levels);
    phase(model, pack_lines, model->ranks);
    exchange_all(model, lines_to_columns);
    phase(model, unpack_columns, model->ranks);
  }
}
