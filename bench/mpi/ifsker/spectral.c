// SPDX-License-Identifier: Apache-2.0
// Each row to its waves, the short ones damped, and back.
#include "mpi/ifsker/model.h"

static const double damping = 1e-4;

void transform_level(const struct model* model, int field, int level) {
  const int points = model->problem.row_points;
  for (int row = 0; row < model->problem.rows; row++) {
    double* numbers = line(model, field, level, row);
    fftw_complex* waves = (fftw_complex*)numbers;
    fftw_execute_dft_r2c(model->forward, numbers, waves);
    for (int wave = 0; wave <= points / 2; wave++) {
      const double scale = 1 / (points * (1 + damping * wave * wave));
      waves[wave][0] *= scale;
      waves[wave][1] *= scale;
    }
    fftw_execute_dft_c2r(model->backward, waves, numbers);
  }
}
