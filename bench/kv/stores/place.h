// SPDX-License-Identifier: Apache-2.0
// Where a store lies, and what it must hold.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/processes.h"

namespace bench {

struct Place {
  int keys = 1000;
  int value_size = 64;
  int key_size = 16;
  int readers = 1;
  std::string folder;                    // for stores of files; empty at first
  std::string socket;                    // of a server
  const SharedMemory* memory = nullptr;  // of size() bytes, for stores that ask for it
};

[[noreturn]] inline void store_failed(const char* call, const char* why) {
  std::fprintf(stderr, "kv: %s: %s\n", call, why);
  std::exit(1);
}

}  // namespace bench
