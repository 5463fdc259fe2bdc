// SPDX-License-Identifier: Apache-2.0
#include <hwloc.h>

#include "machine.h"

namespace weft::tools {

Machine look_at_machine() {
  Machine machine;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return machine;
  if (hwloc_topology_load(topology) == 0) {
    machine.packages = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
    machine.numa_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    machine.cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    machine.hardware_threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
  }
  hwloc_topology_destroy(topology);
  return machine;
}

}  // namespace weft::tools
