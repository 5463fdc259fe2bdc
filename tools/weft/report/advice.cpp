// SPDX-License-Identifier: Apache-2.0
#include "report/advice.h"

#include "report/advice/faults.h"

namespace weft::tools::report {

// The same lost seconds may look like several faults. They go to the first of these that explains them: causes that can
// be named exactly come before those that fit whenever something waits.
std::vector<Advice> advise(const Report& report, std::vector<std::string>* notes) {
  Evidence evidence(report);
  find_nested_serial(evidence);
  find_small_tasks(evidence);
  find_small_chunks(evidence);
  find_short_regions(evidence);
  find_held_locks(evidence);
  find_single_regions(evidence);
  find_few_threads(evidence);
  find_uneven_loops(evidence);
  find_serial_parts(evidence);
  find_other_pools(evidence);
  find_memory_on_one_node(evidence);
  if (notes != nullptr) notes->insert(notes->end(), evidence.notes().begin(), evidence.notes().end());
  return evidence.take_advice();
}

}  // namespace weft::tools::report
