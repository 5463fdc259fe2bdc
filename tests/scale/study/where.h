// SPDX-License-Identifier: Apache-2.0
// What a construct asks of where it runs: the simulated machine (where_simulated.cpp), or this one (where_real.cpp).
#pragma once

#include "timed/model.h"

namespace weft::scale {

Time now();
void compute(Time time);
void sleep(Time time);
// What is counted from here on belongs to the construct.
void begin_counting();
// The NUMA node of the calling thread.
int current_node();

}  // namespace weft::scale
