// SPDX-License-Identifier: Apache-2.0
#include "core/monitor/pi_mutex_watch.h"

#include <cstddef>

#include <linux/futex.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/message.h"
#include "core/sched/pool.h"
#include "platform/thread_state.h"

namespace weft::core {

namespace {

using Mutex = decltype(pthread_mutex_t::__data);
static_assert(offsetof(Mutex, __lock) == 0);

// Reads the mutex through the kernel: the memory is the program's, and may be gone by now.
bool read_mutex(uintptr_t address, Mutex& mutex) noexcept {
  const iovec to{&mutex, sizeof mutex};
  const iovec from{reinterpret_cast<void*>(address), sizeof mutex};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(sizeof mutex);
}

// The word of a mutex that a carrier waits for in the kernel although the C library has it as unlocked; 0: there is
// none.
uintptr_t find_suspect(const Pool& p, uint32_t& owner) noexcept {
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier* carrier = p.carrier(i);
    // Relaxed: a carrier that is missed now is seen the next time.
    if (p.is_idle(carrier) || carrier->wake.load(std::memory_order_relaxed) == Wake::sleeping) continue;
    const uintptr_t word = platform::awaited_pi_lock(carrier->thread_id.load(std::memory_order_relaxed));
    Mutex mutex;
    if (word == 0 || !read_mutex(word, mutex) || mutex.__owner != 0) continue;
    owner = static_cast<uint32_t>(mutex.__lock) & FUTEX_TID_MASK;
    if (owner != 0) return word;
  }
  return 0;
}

}  // namespace

void PiWatch::look(const Pool& p) noexcept {
  if (warned_) return;
  uint32_t owner = 0;
  const uintptr_t found = find_suspect(p, owner);
  warned_ = found != 0 && found == suspect_ && owner == owner_;
  suspect_ = found;
  owner_ = owner;
  if (!warned_) return;
  base::warn(
      "a mutex with PTHREAD_PRIO_INHERIT (%p), used in a parallel region, stays locked: the system lets only the OS "
      "thread "
      "unlock it that locked it, and members change between those; create it without (PTHREAD_PRIO_NONE), or use an "
      "omp_lock_t",
      reinterpret_cast<void*>(found));
}

}  // namespace weft::core
