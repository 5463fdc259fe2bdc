// SPDX-License-Identifier: Apache-2.0
#include "machine/machine.h"
#include "study/where.h"

namespace weft::scale {

machine::Time now() {
  machine::g_machine->spend(machine::g_machine->costs().clock);
  return machine::g_machine->now();
}
void compute(machine::Time time) { machine::g_machine->spend(time); }
void sleep(machine::Time time) { machine::g_machine->sleep(time); }
void begin_counting() { machine::g_machine->reset_counts(); }
int current_node() { return machine::g_machine->model().node(machine::g_machine->current().cpu); }

}  // namespace weft::scale
