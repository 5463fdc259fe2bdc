// SPDX-License-Identifier: Apache-2.0
// A mock-up of a spectral weather model's data: fields of numbers at the points of a grid, at several levels above each
// other. Each rank has them twice. As columns: all levels of its share of the points. As lines: all points, row by row,
// of its share of the levels. A step computes with columns, moves all to lines, transforms these, and moves all back.
#pragma once

#include <fftw3.h>
#include <mpi.h>
#include <stdint.h>

struct problem {
  int row_points;  // points of a row (a latitude)
  int rows;
  int levels;
  int fields;
  int block;  // points of a block, at most: so many columns are computed together
  int steps;
};

struct model {
  struct problem problem;
  MPI_Comm comm;
  int rank, ranks;
  int points, blocks;  // of this rank
  int levels;  // of this rank, as lines
  int pitch;  // numbers from one row to the next, in lines
  double* columns;  // [field][block][level, and one more for intermediate results][point of the block]
  double* lines;  // [field][level of this rank][row][point]
  double** point_side;  // [field][rank]: this rank's points x that rank's levels, as they are sent or have come
  double** level_side;  // [field][rank]: that rank's points x this rank's levels
  fftw_plan forward, backward;
};

struct model make_model(const struct problem* problem, MPI_Comm comm);
void free_model(struct model* model);

// The share of a rank.
long first_point_of(const struct model* model, int rank);
int points_of(const struct model* model, int rank);
int first_level_of(const struct model* model, int rank);
int levels_of(const struct model* model, int rank);

static inline int pair(const struct model* model, int field, int rank) { return field * model->ranks + rank; }

// One level of one block's columns; level problem.levels is for intermediate results.
static inline double* column_level(const struct model* model, int field, int block, int level) {
  const long levels = model->problem.levels + 1;
  return model->columns + (((long)field * model->blocks + block) * levels + level) * model->problem.block;
}

static inline double* line(const struct model* model, int field, int level, int row) {
  return model->lines + (((long)field * model->levels + level) * model->problem.rows + row) * model->pitch;
}

static inline int points_in_block(const struct model* model, int block) {
  const int rest = model->points - block * model->problem.block;
  return rest < model->problem.block ? rest : model->problem.block;
}

// The work of a step, in pieces that can run at once.
void compute_block(const struct model* model, int field, int block);
void transform_level(const struct model* model, int field, int level);

// From one of the two to what is sent to the rank, and from what has come from it to the other.
void pack_columns(const struct model* model, int field, int rank);
void unpack_lines(const struct model* model, int field, int rank);
void pack_lines(const struct model* model, int field, int rank);
void unpack_columns(const struct model* model, int field, int rank);

// Of all columns, at rank 0. It does not depend on which rank has which points.
uint64_t model_hash(const struct model* model);
