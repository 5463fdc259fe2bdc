// SPDX-License-Identifier: Apache-2.0
// Runs of a program that do not differ in where things lie in memory.
#pragma once

#include <sys/personality.h>
#include <unistd.h>

namespace weft::machine {

// Begins the process anew if its addresses are random, and the system lets it choose.
inline void fix_addresses(char** arguments) {
  const int now = personality(0xffffffff);
  if (now == -1 || (now & ADDR_NO_RANDOMIZE) != 0) return;
  if (personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) == -1) return;
  execv("/proc/self/exe", arguments);
}

}  // namespace weft::machine
