/* SPDX-License-Identifier: Apache-2.0 */
/* The header in C11. */
#define _GNU_SOURCE
#include "weft/phase_counter.h"

int phase_counter_in_c(weft_phase_counter *counter);

int phase_counter_in_c(weft_phase_counter *counter) {
  WEFT_PHASE(counter, 1);
  WEFT_PHASE(counter, 2);
  weft_phase_record(counter);
  return counter->points;
}
