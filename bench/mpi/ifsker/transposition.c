// SPDX-License-Identifier: Apache-2.0
// Between columns, lines and the buffers of messages. A buffer has one level behind the other, each with its points.
#include <string.h>

#include "mpi/ifsker/model.h"

static void copy(double* to, const double* from, int count) { memcpy(to, from, (size_t)count * sizeof *to); }

enum direction { to_buffer, from_buffer };

// The levels that `rank` has as lines, of this rank's points.
static void move_columns(const struct model* model, int field, int rank, enum direction direction) {
  double* buffer = model->point_side[pair(model, field, rank)];
  const int first = first_level_of(model, rank), levels = levels_of(model, rank);
  for (int level = first; level < first + levels; level++) {
    for (int block = 0; block < model->blocks; block++) {
      double* numbers = column_level(model, field, block, level);
      const int count = points_in_block(model, block);
      if (direction == to_buffer)
        copy(buffer, numbers, count);
      else
        copy(numbers, buffer, count);
      buffer += count;
    }
  }
}

// This rank's levels, of the points that `rank` has as columns: they may begin and end inside of a row.
static void move_lines(const struct model* model, int field, int rank, enum direction direction) {
  double* buffer = model->level_side[pair(model, field, rank)];
  const int row_points = model->problem.row_points;
  const long first = first_point_of(model, rank), end = first_point_of(model, rank + 1);
  for (int level = 0; level < model->levels; level++) {
    for (long point = first; point < end;) {
      const int in_row = (int)(point % row_points);
      double* numbers = line(model, field, level, (int)(point / row_points)) + in_row;
      const int count = (int)(end - point < row_points - in_row ? end - point : row_points - in_row);
      if (direction == to_buffer)
        copy(buffer, numbers, count);
      else
        copy(numbers, buffer, count);
      buffer += count;
      point += count;
    }
  }
}

void pack_columns(const struct model* model, int field, int rank) { move_columns(model, field, rank, to_buffer); }
void unpack_columns(const struct model* model, int field, int rank) { move_columns(model, field, rank, from_buffer); }
void pack_lines(const struct model* model, int field, int rank) { move_lines(model, field, rank, to_buffer); }
void unpack_lines(const struct model* model, int field, int rank) { move_lines(model, field, rank, from_buffer); }
