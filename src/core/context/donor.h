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
    taken = 2,   // a thread that calls the donor is writing `call`
    called = 4,   // the donor is to run handlers for `call`
    ending = 8,   // beside the others: the pool has told it to end
  };

  pthread_t thread{};
  // Release and acquire: it publishes the context's fields to the side that waits, and `call` to the donor.
  std::atomic<uint32_t> state{starting};
  Context* call = nullptr;
  Donor* next_made = nullptr;
  Donor* previous_made = nullptr;
  Donor* next_of_all = nullptr;  // constant from the moment it stands in the list

  // Calls the donor to run handlers for `context`. Returns false where it is not parked. Called by any thread, also in
  // signal handlers, with signals blocked.
  bool take_call(Context* context) noexcept;

  // The donor's thread parks here, and serves contexts that it is called for, until it is to end.
  void serve() noexcept;
};

}  // namespace weft::core
