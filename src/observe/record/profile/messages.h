// SPDX-License-Identifier: Apache-2.0
// Calls that have waited for other processes, by call and peer.
#pragma once

#include <cstdint>
#include <vector>

#include "base/traced_call.h"

namespace weft::observe {

struct Messages {
  const char* call = "";
  int peer = base::TracedCall::kNone;
  uint64_t count = 0;
  int64_t waited = 0;  // nanoseconds
};

struct Ranks {
  int rank = -1;
  int ranks = 0;
};

void note(const base::TracedCall& call) noexcept;
std::vector<Messages> messages();
Ranks ranks() noexcept;
void set_ranks(Ranks ranks) noexcept;

}  // namespace weft::observe
