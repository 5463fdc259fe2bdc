// SPDX-License-Identifier: Apache-2.0
// Stacks of fibers (interpose/fibers.h). Each carrier keeps the stacks that it has used for its next call; after a
// while without a call it keeps a few of them.
#pragma once

namespace weft::interpose {

// The record of a stack stands at the top of the stack, which is used from `this` downwards.
struct FiberStack {
  // A carrier keeps so many that it does not need.
  static constexpr int kKept = 8;

  FiberStack* next = nullptr;

  // Called by a thread that is attached. Null: the system refuses the memory.
  static FiberStack* take() noexcept;
  // No fiber may be on the stack any more.
  static void put(FiberStack* stack) noexcept;

  // Unmaps the stacks of all carriers but kKept of each. Called by any thread.
  static void trim() noexcept;
};

}  // namespace weft::interpose
