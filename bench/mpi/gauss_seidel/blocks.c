// SPDX-License-Identifier: Apache-2.0
#include "mpi/gauss_seidel/blocks.h"

#include <stdlib.h>

#include "mpi/common/job.h"

struct tokens make_tokens(const struct field* field) {
  const int width = field->block_cols + 2;
  return (struct tokens){width, allocated((size_t)(field->block_rows + 2) * (size_t)width, 1)};
}

void free_tokens(struct tokens* tokens) { free(tokens->first); }

static void add_block_task(const struct field* field, const struct tokens* tokens, int row, int col) {
  const char *up = token(tokens, row - 1, col), *down = token(tokens, row + 1, col);
  const char *left = token(tokens, row, col - 1), *right = token(tokens, row, col + 1);
  const char* self = token(tokens, row, col);
#pragma omp task default(none) firstprivate(field, row, col) firstprivate(up, down, left, right, self) \
    depend(in : *up, *down, *left, *right) depend(inout : *self)
  sweep(field, rows_of_block(field, row - 1), cols_of_block(field, col - 1));
}

void add_block_tasks(const struct field* field, const struct tokens* tokens) {
  for (int row = 1; row <= field->block_rows; row++) {
    for (int col = 1; col <= field->block_cols; col++) add_block_task(field, tokens, row, col);
  }
}
