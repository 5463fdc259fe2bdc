// SPDX-License-Identifier: Apache-2.0
// `mpirun -n P weft tune ...`: rank 0 runs the driver, which starts jobs of its own, and the others wait asleep.
#pragma once

namespace weft::tune {

// Runs the command, which ends with a null, on rank 0; an argument "{ranks}" becomes their number. The exit code, on
// rank 0; 0 on the others. Collective.
int host(char** command);

}  // namespace weft::tune
