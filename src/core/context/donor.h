// SPDX-License-Identifier: Apache-2.0
// A parked thread that has donated its identity and its stack to a context. It runs handlers of signals for contexts
// that no carrier runs (core/context/signals.h). Internal to core.
#pragma once

#include <atomic>
#include <cstdint>

#include <pthread.h>

#include "core/context/context.h"

namespace weft::core {

struct alignas(64) Donor : Context {
  // Bits of `state`.
  enum State : uint32_t {
    starting = 0,
    parked = 1,
    taken = 2,   // a thread that calls it is writing `call`
    called = 4,   // to run handlers
    ending = 8,   // beside the others: by the pool
  };

  pthread_t thread{};
  // Release and acquire: it publishes the context's fields to the side that waits, and `call` to the donor.
  std::atomic<uint32_t> state{starting};
  Context* call = nullptr;
  Donor* next_made = nullptr;
  Donor* previous_made = nullptr;
  Donor* next_of_all = nullptr;  // constant from the moment it stands in the list

  // Called to run handlers for `context`. False: it is not parked. By any thread, also in handlers; signals are
  // blocked.
  bool take_call(Context* context) noexcept;

  // Parks until it is to end.
  void serve() noexcept;
};

}  // namespace weft::core
