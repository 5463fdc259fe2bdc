// SPDX-License-Identifier: Apache-2.0
// The messages of a step: one for each field and other rank, there and back.
#pragma once

#include "mpi/ifsker/model.h"

enum way { columns_to_lines, lines_to_columns };

// Two messages of the same field, way and ranks are never under way at once.
static inline int tag_of(int field, enum way way) { return 2 * field + (int)way; }

// Numbers of a message between this rank's points and the levels of the other, or the other way round.
static inline int point_side_count(const struct model* model, int rank) {
  return model->points * levels_of(model, rank);
}
static inline int level_side_count(const struct model* model, int rank) {
  return points_of(model, rank) * model->levels;
}
