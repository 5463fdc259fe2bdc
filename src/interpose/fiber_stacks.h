// SPDX-License-Identifier: Apache-2.0
// Stacks of fibers (interpose/fibers.h). Each carrier keeps those that it has used, for its next call; a few of them
// when there has been none for a while.
#pragma once

namespace weft::interpose {

// The records stand at the top of their stacks; what lies below is to be used from `this` downwards.
struct FiberStack {
  // As many stay where nobody needs them.
  static constexpr int kKept = 8;

  FiberStack* next = nullptr;

  // By a thread that is attached. Null: the system refuses the memory.
  static FiberStack* take() noexcept;
  // Nobody may be on it any more.
  static void put(FiberStack* stack) noexcept;

  // All carriers' are unmapped, but those that each keeps. By any thread.
  static void trim() noexcept;
};

}  // namespace weft::interpose
