// SPDX-License-Identifier: Apache-2.0
// The operations that the protocols of this layer make on shared memory, and the calls that they make of the kernel.
// The protocols are templates over a class like this one, so that a model checker can run them on a model
// (tests/explore).
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/bulk_copy.h"
#include "platform/cycles.h"
#include "platform/fence.h"
#include "shm/sync/process_fence.h"
#include "shm/sync/robust.h"
#include "shm/sync/thread_number.h"
#include "shm/sync/wait.h"

namespace weft::shm {

struct RealOps {
  template <class Value>
  using Atomic = std::atomic<Value>;
  using Robust = shm::Robust;

  static void full_fence() noexcept { platform::full_fence(); }
  // A full fence of all threads of all processes that take part (process_fence.h). Returns false where the kernel
  // refuses.
  static bool heavy_fence() noexcept { return fence_processes(); }

  // The number of the calling thread; never kNobody.
  static uint64_t self() noexcept { return thread_number(); }
  // Whether there is copy_bulk(), which may copy memory that another process is writing: see platform/bulk_copy.h.
  static constexpr bool kCopiesBulk = platform::kHasBulkCopy;
  static void copy_bulk(void* to, const void* from, uint64_t bytes) noexcept { platform::copy_bulk(to, from, bytes); }

  static int64_t now_ns() noexcept { return platform::now_ns(); }
  static int64_t spin_ns() noexcept { return shm::spin_ns(); }
  static void pause() noexcept { platform::pause(); }
  static void wait(const Atomic<uint32_t>& word, uint32_t expected, int64_t deadline_ns) noexcept {
    shm::wait(word, expected, deadline_ns);
  }
  static void wake(const Atomic<uint32_t>& word) noexcept { shm::wake(word); }
};

}  // namespace weft::shm
