// SPDX-License-Identifier: Apache-2.0
#include "mpi/ifsker/message_tasks.h"

#include <stdlib.h>

#include "mpi/common/job.h"
#include "mpi/ifsker/messages.h"

// Variables of one field that stand for its data in depend clauses.
struct tokens {
  char* block;        // [block]: its columns
  char* level;        // [level of this rank]: its lines
  char* point_side;   // [rank]: the buffer
  char* level_side;   // [rank]
  char* in_columns;   // [rank]: that what came from it has been unpacked
  char* in_lines;     // [rank]
};

struct graph {
  const struct model* model;
  const struct calls* calls;
  struct tokens* fields;
};

static struct tokens make_tokens(const struct model* model) {
  const size_t ranks = (size_t)model->ranks;
  return (struct tokens){
      .block = allocated((size_t)model->blocks, 1),
      .level = allocated((size_t)model->levels, 1),
      .point_side = allocated(ranks, 1),
      .level_side = allocated(ranks, 1),
      .in_columns = allocated(ranks, 1),
      .in_lines = allocated(ranks, 1),
  };
}

static void free_tokens(struct tokens* tokens) {
  char* const all[] = {tokens->block,      tokens->level,      tokens->point_side,
                       tokens->level_side, tokens->in_columns, tokens->in_lines};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

// To oneself nothing is sent: both sides are one buffer.
static char* level_side_token(const struct graph* graph, int field, int rank) {
  const struct tokens* tokens = &graph->fields[field];
  return rank == graph->model->rank ? &tokens->point_side[rank] : &tokens->level_side[rank];
}

// A block's task waits until all that comes to its columns has come; and a level's, for its lines.
static void add_compute_tasks(const struct graph* graph, int field) {
  const struct model* model = graph->model;
  const struct tokens* tokens = &graph->fields[field];
  for (int index = 0; index < model->blocks; index++) {
    char* block = &tokens->block[index];
#pragma omp task default(none) firstprivate(model, tokens, field, index, block) depend(inout : *block) \
    depend(iterator(i = 0 : model->ranks), in : tokens->in_columns[i])
    compute_block(model, field, index);
  }
}

static void add_transform_tasks(const struct graph* graph, int field) {
  const struct model* model = graph->model;
  const struct tokens* tokens = &graph->fields[field];
  for (int index = 0; index < model->levels; index++) {
    char* level = &tokens->level[index];
#pragma omp task default(none) firstprivate(model, tokens, field, index, level) depend(inout : *level) \
    depend(iterator(i = 0 : model->ranks), in : tokens->in_lines[i])
    transform_level(model, field, index);
  }
}

// One way of the exchange with one rank: what differs between the two ways.
struct passage {
  char* parts;  // tokens of the data that is packed, and how many
  int part_count;
  char *from_token, *to_token;  // of the buffers
  double *from, *to;
  int send_count, receive_count, tag;
  void (*pack)(const struct model* model, int field, int rank);
  void (*unpack)(const struct model* model, int field, int rank);
  char* unpacked;
};

static struct passage passage_to_lines(const struct graph* graph, int field, int rank) {
  const struct model* model = graph->model;
  const struct tokens* tokens = &graph->fields[field];
  const int i = pair(model, field, rank);
  return (struct passage){
      .parts = tokens->block,
      .part_count = model->blocks,
      .from_token = &tokens->point_side[rank],
      .to_token = level_side_token(graph, field, rank),
      .from = model->point_side[i],
      .to = model->level_side[i],
      .send_count = point_side_count(model, rank),
      .receive_count = level_side_count(model, rank),
      .tag = tag_of(field, columns_to_lines),
      .pack = pack_columns,
      .unpack = unpack_lines,
      .unpacked = &tokens->in_lines[rank],
  };
}

static struct passage passage_to_columns(const struct graph* graph, int field, int rank) {
  const struct model* model = graph->model;
  const struct tokens* tokens = &graph->fields[field];
  const int i = pair(model, field, rank);
  return (struct passage){
      .parts = tokens->level,
      .part_count = model->levels,
      .from_token = level_side_token(graph, field, rank),
      .to_token = &tokens->point_side[rank],
      .from = model->level_side[i],
      .to = model->point_side[i],
      .send_count = level_side_count(model, rank),
      .receive_count = point_side_count(model, rank),
      .tag = tag_of(field, lines_to_columns),
      .pack = pack_lines,
      .unpack = unpack_columns,
      .unpacked = &tokens->in_columns[rank],
  };
}

static void add_send_task(const struct graph* graph, struct passage passage, int field, int rank) {
#pragma omp task default(none) firstprivate(graph, passage, field, rank) \
    depend(iterator(i = 0 : passage.part_count), in : passage.parts[i]) depend(inout : *passage.from_token)
  {
    const struct model* model = graph->model;
    passage.pack(model, field, rank);
    if (rank != model->rank) graph->calls->send(passage.from, passage.send_count, rank, passage.tag, model->comm);
  }
}

static void add_receive_tasks(const struct graph* graph, struct passage passage, int field, int rank) {
  if (rank != graph->model->rank) {
#pragma omp task default(none) firstprivate(graph, passage, rank) depend(out : *passage.to_token)
    graph->calls->receive(passage.to, passage.receive_count, rank, passage.tag, graph->model->comm);
  }
#pragma omp task default(none) firstprivate(graph, passage, field, rank) depend(in : *passage.to_token) \
    depend(out : *passage.unpacked)
  passage.unpack(graph->model, field, rank);
}

typedef struct passage make_passage(const struct graph* graph, int field, int rank);

static void add_exchange(const struct graph* graph, int field, make_passage* make) {
  const struct model* model = graph->model;
  for (int i = 0; i < model->ranks; i++) {
    const int rank = (model->rank + i) % model->ranks;
    const struct passage passage = make(graph, field, rank);
    add_send_task(graph, passage, field, rank);
    add_receive_tasks(graph, passage, field, rank);
  }
}

static void add_step(const struct graph* graph) {
  const int fields = graph->model->problem.fields;
  for (int field = 0; field < fields; field++) {
    add_compute_tasks(graph, field);
    add_exchange(graph, field, passage_to_lines);
  }
  for (int field = 0; field < fields; field++) {
    add_transform_tasks(graph, field);
    add_exchange(graph, field, passage_to_columns);
  }
}

void run_message_tasks(const struct model* model, const struct calls* calls) {
  const int fields = model->problem.fields;
  const struct graph graph = {model, calls, allocated((size_t)fields, sizeof(struct tokens))};
  for (int field = 0; field < fields; field++) graph.fields[field] = make_tokens(model);
#pragma omp parallel default(none) shared(graph, model)
#pragma omp single
  for (int step = 0; step < model->problem.steps; step++) add_step(&graph);
  for (int field = 0; field < fields; field++) free_tokens(&graph.fields[field]);
  free(graph.fields);
}
