// SPDX-License-Identifier: Apache-2.0
// What stands for the physics of a column: its levels depend on each other, and on no other column.
#include "mpi/ifsker/model.h"

static const double exchange = 0.05;  // of a level with the mean of its column, per step
static const double growth = 0.1;     // towards an equilibrium, so that numbers stay near 1 for any number of steps

static void add_mean(double* restrict mean, const double* restrict numbers, int points, double share) {
  for (int i = 0; i < points; i++) mean[i] += share * numbers[i];
}

static void advance(double* restrict numbers, const double* restrict mean, int points) {
  for (int i = 0; i < points; i++) {
    const double x = numbers[i];
    numbers[i] = x + exchange * (mean[i] - x) + growth * (x / (1 + x * x) - 0.5 * x);
  }
}

void compute_block(const struct model* model, int field, int block) {
  const int levels = model->problem.levels, points = points_in_block(model, block);
  double* mean = column_level(model, field, block, levels);
  for (int i = 0; i < points; i++) mean[i] = 0;
  for (int level = 0; level < levels; level++)
    add_mean(mean, column_level(model, field, block, level), points, 1.0 / levels);
  for (int level = 0; level < levels; level++) advance(column_level(model, field, block, level), mean, points);
}
