// SPDX-License-Identifier: Apache-2.0
// Calls that wait without a pause: outside of parallel regions.
#pragma once

#include <cstdint>

#include "mpi/library/waits/call.h"

namespace weft::mpi {

class WaitInPlace {
 public:
  explicit WaitInPlace(const Call& call) noexcept;
  ~WaitInPlace();
  WaitInPlace(const WaitInPlace&) = delete;
  WaitInPlace& operator=(const WaitInPlace&) = delete;

 private:
  friend int visit_waits_in_place(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept;

  const Call& call_;
  const int64_t began_;
  WaitInPlace* next_;
  WaitInPlace** link_;
};

// Each of them, with the time at which it began; returns how many. None of them ends meanwhile.
int visit_waits_in_place(void (*visit)(const Call& call, int64_t began, void* argument), void* argument) noexcept;

}  // namespace weft::mpi
