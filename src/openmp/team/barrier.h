// SPDX-License-Identifier: Apache-2.0
// The barrier of a team. Explicit tasks pushed before it end before anybody leaves it.
#pragma once

#include <cstdint>

#include "openmp/tool/events.h"

namespace weft::openmp {

struct Member;

// What a barrier belongs to; for tools.
enum class Barrier : uint8_t {
  construct,
  end_of_workshare,
  runtime,  // the way the runtime serves some other construct
};

// The barrier itself.
void pass_barrier(Member* self) noexcept;

// `caller`: of the runtime, as WEFT_CALLER says it.
[[gnu::always_inline]] inline void barrier(Member* self, Barrier kind, const void* caller,
                                           tool::Listener listener = tool::Listener::possible) noexcept {
  if (!tool::barrier(listener, self, kind, caller)) pass_barrier(self);
}

}  // namespace weft::openmp
