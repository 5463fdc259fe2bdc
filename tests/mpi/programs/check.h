/* SPDX-License-Identifier: Apache-2.0 */
/* For programs whose tasks check what has come. */
#ifndef CHECK_H
#define CHECK_H

#include "say.h"

static int wrong;

static void check(int right) {
  if (!right) {
#pragma omp atomic
    ++wrong;
  }
}

#endif
