// SPDX-License-Identifier: Apache-2.0
#include "shm/sync/wait.h"

#include <algorithm>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "platform/cycles.h"
#include "platform/futex.h"
#include "shm/sync/runtime.h"

namespace weft::shm {

namespace {

constexpr int64_t kSpinNs = 3'000;
constexpr int64_t kLongestRestNs = 1'000'000;

// The CPUs of the machine, not of the process: the thread that is waited for may be bound to other CPUs than the
// caller.
long cpus() noexcept {
  const base::KeepErrno keep;
  return sysconf(_SC_NPROCESSORS_ONLN);
}

}  // namespace

int64_t spin_ns() noexcept {
  static const int64_t found = cpus() > 1 ? kSpinNs : 0;
  return found;
}

void wait(const std::atomic<uint32_t>& word, uint32_t expected, int64_t deadline_ns) noexcept {
  if (!runtime().in_parallel()) {
    const int64_t left = deadline_ns - platform::now_ns();
    if (left > 0) platform::futex_wait_shared(word, expected, std::min(left, kSecondNs));
    return;
  }
  // Relaxed: the caller looks again.
  for (Pause pause; word.load(std::memory_order_relaxed) == expected && platform::now_ns() < deadline_ns;) pause.once();
}

void wake(const std::atomic<uint32_t>& word) noexcept { platform::futex_wake_shared(word, INT32_MAX); }

void Pause::once() noexcept {
  if (runtime().yield()) {
    ns_ = 4'000;
    return;
  }
  const base::KeepErrno keep;
  const timespec rest{0, static_cast<long>(ns_)};
  syscall(SYS_nanosleep, &rest, nullptr);  // the C library's is a point of cancellation
  ns_ = std::min(2 * ns_, kLongestRestNs);
}

}  // namespace weft::shm
