// SPDX-License-Identifier: Apache-2.0
// Threads inside of clients.
#pragma once

#include <atomic>

#include "tcm/permits.h"

namespace weft::tcm {

// Those that have come by themselves. Relaxed: a count.
extern std::atomic<int> g_primaries;

// Of the caller: inside of how many clients it is, and by which permit it came in first. A thread that asks
// for a permit while inside of none has come by itself; workers of clients enter first.
struct Inside {
  Permit* permit = nullptr;
  int depth = 0;
  bool has_come = false;
  const Permit* called_for = nullptr;
};
inline constinit thread_local Inside t_inside;

}  // namespace weft::tcm
