// SPDX-License-Identifier: Apache-2.0
// everywhere(BODY...) runs each test body in every place where a construct may stand: at level 1 with teams from 1 member
// to far more than there are CPUs, in several members of an outer region at the same time, two levels down, and inside a
// serial region. A body gets the team size to ask for and must be reentrant.
#pragma once

#include <omp.h>

enum { most_members = 256 };

__attribute__((unused)) static void run_everywhere(void (*body)(int threads))
{
  static const int sizes[] = {1, 2, 3, 4, 7, 16};
  omp_set_dynamic(0);
  omp_set_max_active_levels(4);
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) body(sizes[i]);
  body(omp_get_max_threads());

#pragma omp parallel num_threads(3)
  {
    body(1);
    body(2);
    body(5);
    body(omp_get_max_threads());
  }
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(2)
    body(3);
  }
#pragma omp parallel if (0)
  body(4);
}

#define everywhere(...)                                                                                                \
  do {                                                                                                                 \
    void (*const bodies[])(int threads) = {__VA_ARGS__};                                                               \
    for (unsigned at = 0; at < sizeof bodies / sizeof *bodies; at++) run_everywhere(bodies[at]);                       \
  } while (0)
