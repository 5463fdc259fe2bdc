// SPDX-License-Identifier: Apache-2.0
// Donors whose OS threads have ended (core/context/donor.h).
#include <dlfcn.h>

#include <boost/context/detail/fcontext.hpp>

#include "core/context/donor.h"
#include "core/context/signals.h"
#include "platform/bare_thread.h"
#include "platform/futex.h"
#include "platform/sanitizer.h"
#include "platform/thread_pointer.h"
#include "platform/valgrind.h"

namespace weft::core {

namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// Above all numbers that the kernel gives (PID_MAX_LIMIT is 2^22), within what a futex can hold (FUTEX_TID_MASK), and
// none whose clock could be taken for another thread's.
constexpr uint32_t kFirstNumber = 1u << 28;
// Relaxed: each is given once.
std::atomic<uint32_t> g_next_number{kFirstNumber};

// Right below the frames in which the donor has parked. Those who have not parked yet, or have gone on, use it no more.
uintptr_t free_stack_of(const Donor* donor) noexcept {
  constexpr uintptr_t kRedZone = 256;
  return (reinterpret_cast<uintptr_t>(donor->parked_at) - kRedZone) & ~uintptr_t{63};
}

void depart(transfer_t from) noexcept {
  auto* donor = static_cast<Donor*>(from.data);
  donor->parked_at = from.fctx;
  uint32_t expected = Donor::parked;
  // Release: who brings the donor back sees where it has parked.
  if (donor->state.compare_exchange_strong(expected, Donor::parked | Donor::absent, std::memory_order_release)) {
    platform::futex_wake(donor->state, 1);
    platform::end_bare_thread();
  }
  jump_fcontext(from.fctx, nullptr);
  __builtin_unreachable();
}

void resume(void* argument) noexcept {
  auto* donor = static_cast<Donor*>(argument);
  donor->state.fetch_and(~uint32_t{Donor::coming}, std::memory_order_acq_rel);
  jump_fcontext(donor->parked_at, nullptr);
  __builtin_unreachable();
}

struct Call {
  void (*run)(void*);
  void* argument;
};

void run_and_end(void* argument) noexcept {
  const auto* call = static_cast<const Call*>(argument);
  call->run(call->argument);
  platform::end_bare_thread();
}

bool is_watched() noexcept {
  if (WEFT_SANITIZED != 0 || platform::on_valgrind()) return true;
  for (const char* tool : {"__asan_init", "__tsan_init", "__msan_init", "__hwasan_init"}) {
    if (dlsym(RTLD_DEFAULT, tool) != nullptr) return true;
  }
  return false;
}

// A sandbox may know one way to start threads alone, libc's.
bool may_start_threads() noexcept {
  constexpr size_t kStackSize = 16 << 10;
  alignas(64) static char stack[kStackSize];
  static std::atomic<uint32_t> number{0};
  const SignalsBlocked blocked;
  const auto end = [](void*) noexcept { platform::end_bare_thread(); };
  const bool started = platform::start_bare_thread(reinterpret_cast<uintptr_t>(stack + kStackSize),
                                                   platform::thread_pointer(), end, nullptr, number);
  platform::await_bare_thread(number);
  return started;
}

}  // namespace

bool donors_may_leave() noexcept {
  static const bool may = !is_watched() && may_start_threads();
  return may;
}

__attribute__((no_sanitize("address", "thread"))) bool lacks_thread(const Context* context) noexcept {
  return context->donated && static_cast<const Donor*>(context)->leaves;
}

__attribute__((no_sanitize("address", "thread"))) bool lacks_thread(pthread_t live_thread) noexcept {
  const Context* context = context_of(live_thread);
  return context != nullptr && lacks_thread(context);
}

__attribute__((no_sanitize("address", "thread"))) bool stack_without_thread(pthread_t thread, void*& lowest,
                                                                            size_t& size) noexcept {
  if (!lacks_thread(thread)) return false;
  const Context* context = context_of(thread);
  lowest = reinterpret_cast<void*>(context->stack_end);
  size = static_cast<const Donor*>(context)->stack_size;
  return true;
}

bool Donor::begin_to_leave_threads() noexcept {
  number_in_record = platform::number_in_record();
  if (number_in_record == nullptr || rseq == Rseq::refused) return false;
  // libc looks at it when it sends all threads a signal.
  const uint32_t number = g_next_number.fetch_add(1, std::memory_order_relaxed);
  platform::become_bare_thread(os_thread);
  std::atomic_ref(*number_in_record).store(number, std::memory_order_relaxed);
  number_identity(static_cast<pid_t>(number));
  leaves = true;
  return true;
}

void Donor::leave_thread() noexcept {
  // The stack of the jump lies below this frame, and is left before anything else uses it.
  constexpr uintptr_t kBelow = 1024;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  jump_fcontext(make_fcontext(reinterpret_cast<void*>((here - kBelow) & ~uintptr_t{63}), 0, depart), this);
}

bool Donor::bring_back() noexcept {
  uint32_t seen = state.load(std::memory_order_acquire);
  do {
    if ((seen & absent) == 0) return true;
  } while (!state.compare_exchange_weak(seen, (seen & ~uint32_t{absent}) | coming, std::memory_order_acq_rel));
  // The new thread inherits the mask, and no handler is to run under the donor's identity.
  const SignalsBlocked blocked;
  platform::await_bare_thread(os_thread);
  if (platform::start_bare_thread(free_stack_of(this), thread_pointer, resume, this, os_thread)) return true;
  state.fetch_xor(absent | coming, std::memory_order_release);
  return false;
}

void Donor::become_thread() noexcept {
  thread_id = static_cast<pid_t>(os_thread.load(std::memory_order_relaxed));
  platform::become_libc_thread(number_in_record);
}

bool Donor::run_apart(uintptr_t identity, void (*run)(void*), void* argument) noexcept {
  // Nobody else brings it back meanwhile.
  for (uint32_t seen = parked | absent; !state.compare_exchange_weak(seen, parked | coming, std::memory_order_acq_rel);
       seen = parked | absent) {
    platform::futex_wait_for(state, seen, 1'000'000);
  }
  const SignalsBlocked blocked;
  platform::await_bare_thread(os_thread);
  Call errand{run, argument};
  const bool started = platform::start_bare_thread(free_stack_of(this), identity, run_and_end, &errand, os_thread);
  if (started) platform::await_bare_thread(os_thread);
  state.fetch_xor(absent | coming, std::memory_order_release);
  return started;
}

}  // namespace weft::core
