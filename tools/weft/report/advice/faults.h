// SPDX-License-Identifier: Apache-2.0
// One function for each kind of fault; each is in the file of its name.
#pragma once

#include "report/advice/evidence.h"

namespace weft::tools::report {

void find_nested_serial(Evidence& evidence);
void find_small_tasks(Evidence& evidence);
void find_small_chunks(Evidence& evidence);
void find_short_regions(Evidence& evidence);
void find_held_locks(Evidence& evidence);  // critical regions and locks
void find_single_regions(Evidence& evidence);
void find_few_threads(Evidence& evidence);
void find_uneven_loops(Evidence& evidence);
void find_serial_parts(Evidence& evidence);
void find_other_pools(Evidence& evidence);
void find_memory_on_one_node(Evidence& evidence);

}  // namespace weft::tools::report
