// SPDX-License-Identifier: Apache-2.0
#include "study/where.h"
#include "timed/timed.h"

namespace weft::scale {

Time now() {
  running()->spend(running()->costs().clock);
  return running()->now();
}
void compute(Time time) { running()->spend(time); }
void sleep(Time time) { running()->sleep(time); }
void begin_counting() { running()->reset_counts(); }
int current_node() { return running()->model().node(running()->current().cpu); }

}  // namespace weft::scale
