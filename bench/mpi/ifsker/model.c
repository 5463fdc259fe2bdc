// SPDX-License-Identifier: Apache-2.0
#include "mpi/ifsker/model.h"

#include <stdlib.h>

#include "mpi/common/job.h"
#include "mpi/common/mix.h"

long first_point_of(const struct model* model, int rank) {
  return first_of_part((long)model->problem.rows * model->problem.row_points, rank, model->ranks);
}

int points_of(const struct model* model, int rank) {
  return (int)(first_point_of(model, rank + 1) - first_point_of(model, rank));
}

int first_level_of(const struct model* model, int rank) {
  return (int)first_of_part(model->problem.levels, rank, model->ranks);
}

int levels_of(const struct model* model, int rank) {
  return first_level_of(model, rank + 1) - first_level_of(model, rank);
}

// Where a number stands, whichever rank has it.
static uint64_t place(const struct model* model, int field, int block, int level, int point) {
  const long points = (long)model->problem.rows * model->problem.row_points;
  const long at = first_point_of(model, model->rank) + (long)block * model->problem.block + point;
  return (uint64_t)(((long)field * model->problem.levels + level) * points + at);
}

static void fill(struct model* model) {
  for (int field = 0; field < model->problem.fields; field++) {
    for (int block = 0; block < model->blocks; block++) {
      for (int level = 0; level < model->problem.levels; level++) {
        double* numbers = column_level(model, field, block, level);
        for (int i = 0; i < points_in_block(model, block); i++)
          numbers[i] = first_value(place(model, field, block, level, i));
      }
    }
  }
}

static void make_buffers(struct model* model) {
  const size_t pairs = (size_t)model->problem.fields * (size_t)model->ranks;
  model->point_side = allocated(pairs, sizeof *model->point_side);
  model->level_side = allocated(pairs, sizeof *model->level_side);
  for (int field = 0; field < model->problem.fields; field++) {
    for (int rank = 0; rank < model->ranks; rank++) {
      const int i = pair(model, field, rank);
      model->point_side[i] = allocated((size_t)model->points * (size_t)levels_of(model, rank), sizeof(double));
      // Nothing is sent to oneself: what is packed on one side is unpacked on the other.
      model->level_side[i] = rank == model->rank
                                 ? model->point_side[i]
                                 : allocated((size_t)points_of(model, rank) * (size_t)model->levels, sizeof(double));
    }
  }
}

struct model make_model(const struct problem* problem, MPI_Comm comm) {
  struct model model = {.problem = *problem, .comm = comm, .rank = rank_in(comm), .ranks = ranks_in(comm)};
  model.points = points_of(&model, model.rank);
  model.blocks = (model.points + problem->block - 1) / problem->block;
  model.levels = levels_of(&model, model.rank);
  // Room for the coefficients in the place of the numbers; each row begins a line of the cache, so that all rows are
  // transformed by the same plan.
  const int numbers_per_cache_line = 8;
  model.pitch = (2 * (problem->row_points / 2 + 1) + numbers_per_cache_line - 1) / numbers_per_cache_line *
                numbers_per_cache_line;
  const size_t fields = (size_t)problem->fields;
  model.columns =
      allocated(fields * (size_t)model.blocks * (size_t)(problem->levels + 1) * (size_t)problem->block, sizeof(double));
  model.lines = allocated(fields * (size_t)model.levels * (size_t)problem->rows * (size_t)model.pitch, sizeof(double));
  make_buffers(&model);
  // FFTW_ESTIMATE measures nothing: every rank of every run gets the same plan, and rounds alike.
  model.forward = fftw_plan_dft_r2c_1d(problem->row_points, model.lines, (fftw_complex*)model.lines, FFTW_ESTIMATE);
  model.backward = fftw_plan_dft_c2r_1d(problem->row_points, (fftw_complex*)model.lines, model.lines, FFTW_ESTIMATE);
  fill(&model);
  return model;
}

void free_model(struct model* model) {
  for (int i = 0; i < model->problem.fields * model->ranks; i++) {
    if (model->level_side[i] != model->point_side[i]) free(model->level_side[i]);
    free(model->point_side[i]);
  }
  free(model->level_side);
  free(model->point_side);
  fftw_destroy_plan(model->forward);
  fftw_destroy_plan(model->backward);
  free(model->columns);
  free(model->lines);
}

uint64_t model_hash(const struct model* model) {
  uint64_t hash = 0;
  for (int field = 0; field < model->problem.fields; field++) {
    for (int block = 0; block < model->blocks; block++) {
      for (int level = 0; level < model->problem.levels; level++) {
        const double* numbers = column_level(model, field, block, level);
        for (int i = 0; i < points_in_block(model, block); i++)
          hash += hash_of(place(model, field, block, level, i), numbers[i]);
      }
    }
  }
  return sum_over_ranks(model->comm, hash);
}
