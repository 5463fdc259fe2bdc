// SPDX-License-Identifier: Apache-2.0
// What /proc says of a thread that sleeps in the system.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <sys/types.h>

#include "threads/inspector.h"

namespace weft::tools::threads {

struct SystemCall {
  bool sleeps = false;
  long number = -1;
  std::array<uint64_t, 6> arguments{};
  uint64_t stack_pointer = 0;
  uint64_t program_counter = 0;
};

SystemCall system_call_of(Inspector& process, pid_t thread);

// "futex", "sleep", "system call 17"
std::string name_of_call(long number);

}  // namespace weft::tools::threads
