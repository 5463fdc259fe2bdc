// SPDX-License-Identifier: Apache-2.0
#include "mpi/gauss_seidel/message_tasks.h"

#include "mpi/gauss_seidel/blocks.h"

struct graph {
  const struct field* field;
  const struct calls* calls;
  struct tokens tokens;
  int sentinels;  // 1: tasks with messages have the sentinel as a dependence; 0: they have not
  char sentinel;
};

// Tasks that send `row`, which is in this row of blocks, to the rank. A block's task of the next sweep waits for them,
// so two messages of the same column are never under way: the column is the tag.
static void add_send_tasks(struct graph* graph, int rank, int row, int block_row) {
  if (rank == MPI_PROC_NULL) return;
  for (int col = 1; col <= graph->field->block_cols; col++) {
    const char* block = token(&graph->tokens, block_row, col);
#pragma omp task default(none) firstprivate(graph, rank, row, col, block) depend(in : *block) \
    depend(iterator(i = 0 : graph->sentinels), inout : (&graph->sentinel)[i])
    {
      const struct span cols = cols_of_block(graph->field, col - 1);
      graph->calls->send(cell(graph->field, row, cols.first), cols.count, rank, col, graph->field->comm);
    }
  }
}

static void add_receive_tasks(struct graph* graph, int rank, int row, int block_row) {
  if (rank == MPI_PROC_NULL) return;
  for (int col = 1; col <= graph->field->block_cols; col++) {
    const char* border = token(&graph->tokens, block_row, col);
#pragma omp task default(none) firstprivate(graph, rank, row, col, border) depend(out : *border) \
    depend(iterator(i = 0 : graph->sentinels), inout : (&graph->sentinel)[i])
    {
      const struct span cols = cols_of_block(graph->field, col - 1);
      graph->calls->receive(cell(graph->field, row, cols.first), cols.count, rank, col, graph->field->comm);
    }
  }
}

static void add_step(struct graph* graph) {
  const struct field* field = graph->field;
  add_send_tasks(graph, field->above, 1, 1);
  add_receive_tasks(graph, field->above, 0, 0);
  add_receive_tasks(graph, field->below, field->rows + 1, field->block_rows + 1);
  add_block_tasks(field, &graph->tokens);
  add_send_tasks(graph, field->below, field->rows, field->block_rows);
}

void run_message_tasks(const struct field* field, int steps, const struct calls* calls, bool one_at_a_time) {
  struct graph graph = {field, calls, make_tokens(field), one_at_a_time, 0};
#pragma omp parallel default(none) shared(graph, steps)
#pragma omp single
  for (int step = 0; step < steps; step++) add_step(&graph);
  free_tokens(&graph.tokens);
}
