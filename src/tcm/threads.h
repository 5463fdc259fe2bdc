// SPDX-License-Identifier: Apache-2.0
// Which threads are inside of clients.
#pragma once

#include <atomic>

#include "tcm/permits.h"

namespace weft::tcm {

// How many threads are inside as primaries: they have come by themselves. Relaxed: a count.
extern std::atomic<int> g_primaries;

// The calling thread: inside of how many clients it is, and by which permit it came in first. A thread that asks for a
// permit while it is inside of none has come by itself, as a primary; workers of clients enter before they ask.
struct Inside {
  Permit* permit = nullptr;
  int depth = 0;
  bool has_come = false;
  const Permit* called_for = nullptr;
};
inline constinit thread_local Inside t_inside;

}  // namespace weft::tcm
