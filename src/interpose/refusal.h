// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/message.h"

namespace weft::interpose {

// Ends the process with a message: the system refuses threads, jobs that wait for each other have to run at the same
// time, and there is no way back to the library's own threads.
[[noreturn]] inline void refuse() noexcept {
  base::fatal(
      "the system refuses the threads that OpenBLAS needs to go on (see ulimit -u, -v); ask for fewer with "
      "OPENBLAS_NUM_THREADS");
}

}  // namespace weft::interpose
