// SPDX-License-Identifier: Apache-2.0
// The file: the trace event format of Chrome, which Perfetto reads too. One track a carrier; what a context has open
// is shown where it runs, and only while it runs.
#pragma once

#include <cstdint>
#include <cstdio>

#include "observe/record/trace/log.h"

namespace weft::observe::trace {

// What the process is to others that are traced too.
struct Process {
  int64_t began = 0;
  int rank = -1;  // -1: there are no others
  int ranks = 0;
  int64_t together = 0;  // when all were at the same place
  int cpus = 1;          // that the program may use
  int64_t cpu_before = 0;  // CPU time that the process had had when the trace began
  int64_t cpu = 0;         // and when it ended
  int64_t others_cpu = 0;  // that other processes have used since then
  const void* runtime = nullptr;  // an address in it
};

// Writes the records of all `logs` up to `now`; false when the file cannot be written. `is_cut_off`: the program goes
// on, and the last characters say so.
bool write(std::FILE* file, const Log* logs, const Process& process, int64_t now, bool is_cut_off);

}  // namespace weft::observe::trace
