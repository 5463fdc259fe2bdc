// SPDX-License-Identifier: Apache-2.0
// A rank's rows of the matrix, with a border of one cell around them: the neighbours' rows, or the fixed edge.
#pragma once

#include <mpi.h>
#include <stdint.h>

struct problem {
  int rows, cols;      // of the whole matrix, without its edge
  int steps;           // sweeps over it
  int block;           // rows and columns of a block, at most
  const char* shares;  // of the ranks in the rows, "3,1"; null: equal ones
};

struct field {
  MPI_Comm comm;
  int above, below;  // ranks with the rows before and behind, or MPI_PROC_NULL
  int rows, cols;    // of this rank, from 1; 0 and rows + 1 are the border
  int block;
  int block_rows, block_cols;
  long first_row;  // where row 1 is in the whole matrix
  double* cells;
};

// A piece of rows or of columns.
struct span {
  int first, count;
};

struct field make_field(const struct problem* problem, MPI_Comm comm);
void free_field(struct field* field);

static inline double* cell(const struct field* field, int row, int col) {
  return field->cells + (long)row * (field->cols + 2) + col;
}

struct span rows_of_block(const struct field* field, int block_row);
struct span cols_of_block(const struct field* field, int block_col);

// Gives each cell the mean of its four neighbours, in place, row after row: the upper and the left one are new already.
// The one place where cells are computed, so that all versions round alike.
void sweep(const struct field* field, struct span rows, struct span cols);

// Of the whole matrix, at rank 0. It does not depend on which rank has which rows.
uint64_t field_hash(const struct field* field);
