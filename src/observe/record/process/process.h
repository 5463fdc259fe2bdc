// SPDX-License-Identifier: Apache-2.0
// What a report says of a process besides what happened in it.
#pragma once

#include <clocale>
#include <cstdint>
#include <vector>

#include "observe/format/json.h"
#include "observe/record/process/memory.h"
#include "observe/record/process/threads.h"

namespace weft::observe {

struct Process {
  const char* version;
  const char* title;  // whose words stand for its command line; null: its own
  double unix_began;
  int cpus;
  int64_t others_cpu;  // nanoseconds that other processes have used meanwhile
  const MemorySpread& memory;
  const Threads& threads;
  // OS threads that ran members, and those of the program's own that called OpenMP.
  const std::vector<int>& carriers;
  const std::vector<int>& roots;
};

// Members of the object that is open.
void write_process(Json& json, const Process& process);

// When the process was started, by CLOCK_MONOTONIC.
int64_t process_began() noexcept;

// Numbers with a point, whatever the program's locale is, as long as this lives.
class PlainNumbers {
 public:
  PlainNumbers() noexcept;
  ~PlainNumbers();
  PlainNumbers(const PlainNumbers&) = delete;
  PlainNumbers& operator=(const PlainNumbers&) = delete;

 private:
  const locale_t plain_;
  const locale_t before_;
};

}  // namespace weft::observe
