// SPDX-License-Identifier: Apache-2.0
// The tasks that compute, one for each block.
#pragma once

#include "mpi/gauss_seidel/field.h"

// A variable for each block, which stands for it in depend clauses, and a border of them: row 0 and row block_rows + 1
// stand for the neighbours' rows.
struct tokens {
  int width;
  char* first;
};

struct tokens make_tokens(const struct field* field);
void free_tokens(struct tokens* tokens);

// Rows and columns of blocks count from 1.
static inline char* token(const struct tokens* tokens, int block_row, int block_col) {
  return tokens->first + (long)block_row * tokens->width + block_col;
}

// A task for each block, for one sweep. Those of a wave front can run at once.
void add_block_tasks(const struct field* field, const struct tokens* tokens);
