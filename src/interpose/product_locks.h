// SPDX-License-Identifier: Apache-2.0
// The locks that products of OpenBLAS on pthreads hold while their jobs run. Each routine has one, so that no two calls
// of it give jobs to the library's threads, and to their buffers, at the same time. Jobs that weft runs have numbers,
// and so buffers, of their own: such calls need not wait for each other, and a caller that waits leaves a CPU idle. So
// the copy's calls of libc's functions come here, and a lock that the caller holds is given back when its jobs begin.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/loaded_object.h"

namespace weft::interpose {

// Where the products of a copy are, and what they call that is not exported: from the first of them to the last one.
class ProductCode {
 public:
  void add(const void* function, size_t size) noexcept {
    const auto at = reinterpret_cast<uintptr_t>(function);
    if (at < begin_) begin_ = at;
    if (at + size > end_) end_ = at + size;
  }
  bool holds(const void* address) const noexcept {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return begin_ <= at && at < end_;
  }

 private:
  uintptr_t begin_ = UINTPTR_MAX;
  uintptr_t end_ = 0;
};

// The calls of locks by this object, a copy, come here from now on. Thread-safe, also while others hold the locks.
void take_lock_calls(const platform::LoadedObject& object) noexcept;

// To be called when jobs that weft runs begin: gives the lock back that the caller holds for them. The call that
// would give it back later does nothing then.
void release_product_lock() noexcept;

}  // namespace weft::interpose
