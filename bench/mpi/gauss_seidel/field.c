// SPDX-License-Identifier: Apache-2.0
#include "mpi/gauss_seidel/field.h"

#include <stdio.h>
#include <stdlib.h>

#include "mpi/common/job.h"
#include "mpi/common/mix.h"

// Rows before those of `rank`.
static long first_row_of(const struct problem* problem, int rank, int ranks) {
  if (!problem->shares || ranks == 1) return first_of_part(problem->rows, rank, ranks);
  long before = 0, all = 0;
  const char* rest = problem->shares;
  for (int i = 0; i < ranks; i++) {
    char* end;
    const long share = strtol(rest, &end, 10);
    if (end == rest || share < 1 || *end != (i + 1 < ranks ? ',' : '\0')) {
      fprintf(stderr, "gauss_seidel: --shares %s: %d numbers from 1, with commas between, are wanted\n",
              problem->shares, ranks);
      exit(2);
    }
    all += share;
    if (i < rank) before += share;
    rest = end + 1;
  }
  return problem->rows * before / all;
}

struct field make_field(const struct problem* problem, MPI_Comm comm) {
  const int rank = rank_in(comm), ranks = ranks_in(comm);
  struct field field = {
      .comm = comm,
      .above = rank > 0 ? rank - 1 : MPI_PROC_NULL,
      .below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL,
      .cols = problem->cols,
      .block = problem->block,
      .first_row = first_row_of(problem, rank, ranks),
  };
  field.rows = (int)(first_row_of(problem, rank + 1, ranks) - field.first_row);
  if (field.rows < 1) {
    fprintf(stderr, "gauss_seidel: %d rows are too few: rank %d of %d has none\n", problem->rows, rank, ranks);
    exit(2);
  }
  field.block_rows = (field.rows + field.block - 1) / field.block;
  field.block_cols = (field.cols + field.block - 1) / field.block;
  const long width = field.cols + 2;
  field.cells = allocated((size_t)(field.rows + 2) * (size_t)width, sizeof(double));
  for (int row = 0; row < field.rows + 2; row++) {
    for (int col = 0; col < width; col++)
      *cell(&field, row, col) = first_value((uint64_t)((field.first_row + row) * width + col));
  }
  return field;
}

void free_field(struct field* field) { free(field->cells); }

static struct span span_of(int index, int size, int all) {
  const int first = index * size;
  return (struct span){1 + first, all - first < size ? all - first : size};
}

struct span rows_of_block(const struct field* field, int block_row) {
  return span_of(block_row, field->block, field->rows);
}

struct span cols_of_block(const struct field* field, int block_col) {
  return span_of(block_col, field->block, field->cols);
}

// The rows of a block lie far apart: the processor begins to fetch each one anew, unless it is told of it a row before.
static void announce_row(const double* first, int count) {
  enum { per_line = 8, most = 256 };  // numbers; of a longer row it fetches the rest by itself
  for (int i = 0; i < count && i < most; i += per_line) __builtin_prefetch(first + i);
}

void sweep(const struct field* field, struct span rows, struct span cols) {
  for (int row = rows.first; row < rows.first + rows.count; row++) {
    double* here = cell(field, row, cols.first);
    const double* up = cell(field, row - 1, cols.first);
    const double* down = cell(field, row + 1, cols.first);
    double left = here[-1];
    if (row + 1 < rows.first + rows.count) announce_row(cell(field, row + 2, cols.first), cols.count);
    for (int i = 0; i < cols.count; i++) {
      // Only the last sum waits for the cell before.
      left = 0.25 * ((up[i] + down[i] + here[i + 1]) + left);
      here[i] = left;
    }
  }
}

uint64_t field_hash(const struct field* field) {
  uint64_t hash = 0;
  for (int row = 1; row <= field->rows; row++) {
    for (int col = 1; col <= field->cols; col++)
      hash += hash_of((uint64_t)((field->first_row + row) * (field->cols + 2) + col), *cell(field, row, col));
  }
  return sum_over_ranks(field->comm, hash);
}
