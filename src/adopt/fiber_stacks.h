// SPDX-License-Identifier: Apache-2.0
// Stacks of fibers (adopt/fibers.h). Each carrier keeps those that it has used.
#pragma once

#include <cstddef>

namespace weft::adopt {

// The records stand at the top of their stacks; what lies below is to be used from `this` downwards.
struct FiberStack {
  FiberStack* next = nullptr;

  // By a thread that is attached. Null: the system refuses the memory.
  static FiberStack* take() noexcept;
  static void put(FiberStack* stack) noexcept;
};

}  // namespace weft::adopt
