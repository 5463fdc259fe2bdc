// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/spin_wait.h"

#include <atomic>
#include <cstdint>

#include "core/api/records.h"
#include "core/api/wait.h"
#include "openmp/abi/abi.h"
#include "openmp/library/call_right.h"
#include "openmp/record/team.h"
#include "openmp/task/stand_in.h"
#include "platform/kept_registers.h"

namespace weft::openmp {

namespace {

// Null as long as the runtime has not started. It needs no relocation, so that the audit library may look at it as soon
// as the runtime is mapped. Release: with the function comes what it uses.
struct SpinWaits {
  std::atomic<void (*)()> wait{nullptr};  // for loops that look
  std::atomic<void (*)()> lock{nullptr};  // for those that try to take a lock
};
SpinWaits g_spin_waits;

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

// So many rounds pass between two looks at what else could run, some 0.5 us: a member on another CPU often writes in
// that time. Where others have run, the next look is at once: there are more members than CPUs.
constexpr unsigned kRoundsPerLook = 12;
thread_local unsigned t_rounds = 0;

// `for_members`: what the caller waits for is done by members of its team, not by whoever holds a lock.
bool let_others_run(bool for_members) noexcept {
  if (core::current_context()->carrier == nullptr) return false;
  Member* member = current_member();
  if (member == nullptr || !defers_tasks(member->team)) return false;
  // A promise is its holder's as long as that stays on its OS thread (library/call_right.h).
  if (has_promised()) return false;
  if (for_members) note_yield(member->team);
  if (tasks_may_pause()) let_awaited_go_on(member);
  return core::yield();
}

#endif

}  // namespace

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

extern "C" {
// Nothing here may touch a vector register: those are saved only where others may run.
[[gnu::target("general-regs-only"), gnu::used]] bool weft_spin_wait_looks() {
  __builtin_ia32_pause();
  return t_rounds-- == 0;
}
[[gnu::used]] void weft_spin_wait_runs() { t_rounds = let_others_run(true) ? 0 : kRoundsPerLook; }
[[gnu::used]] void weft_spin_lock_runs() { t_rounds = let_others_run(false) ? 0 : kRoundsPerLook; }
void weft_spin_wait();
void weft_spin_lock();
}

WEFT_KEEPS_REGISTERS(weft_spin_wait, weft_spin_wait_looks, weft_spin_wait_runs);
WEFT_KEEPS_REGISTERS(weft_spin_lock, weft_spin_wait_looks, weft_spin_lock_runs);

void offer_spin_waits() noexcept {
  if (!platform::keeps_registers()) return;
  g_spin_waits.wait.store(&weft_spin_wait, std::memory_order_release);
  g_spin_waits.lock.store(&weft_spin_lock, std::memory_order_release);
}

#else

void offer_spin_waits() noexcept {}

#endif

}  // namespace weft::openmp

// Called by the audit library of the same release, also before the runtime has been relocated.
WEFT_ABI(const void*, weft_spin_wait_place)() { return &weft::openmp::g_spin_waits; }
