// SPDX-License-Identifier: Apache-2.0
#include "mpi/gauss_seidel/rows.h"

void exchange_before(const struct field* field) {
  MPI_Send(cell(field, 1, 1), field->cols, MPI_DOUBLE, field->above, 0, field->comm);
  MPI_Recv(cell(field, 0, 1), field->cols, MPI_DOUBLE, field->above, 0, field->comm, MPI_STATUS_IGNORE);
  MPI_Recv(cell(field, field->rows + 1, 1), field->cols, MPI_DOUBLE, field->below, 0, field->comm, MPI_STATUS_IGNORE);
}

void send_last_row(const struct field* field) {
  MPI_Send(cell(field, field->rows, 1), field->cols, MPI_DOUBLE, field->below, 0, field->comm);
}
