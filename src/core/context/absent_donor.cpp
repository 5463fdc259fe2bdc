// SPDX-License-Identifier: Apache-2.0
// Donors whose OS threads have ended (core/context/donor.h).
#include <dlfcn.h>
#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>

#include "base/keep_errno.h"
#include "core/context/donor.h"
#include "core/context/set_ids.h"
#include "core/context/signals.h"
#include "platform/bare_thread.h"
#include "platform/futex.h"
#include "platform/generation.h"
#include "platform/sanitizer.h"
#include "platform/system_call.h"
#include "platform/thread_pointer.h"
#include "platform/valgrind.h"

namespace weft::core {

namespace {

constexpr int64_t kLookNs = 1'000'000;

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// Above all numbers that the kernel gives (PID_MAX_LIMIT is 2^22), within what a futex can hold (FUTEX_TID_MASK), and
// none whose clock could be taken for another thread's.
constexpr uint32_t kFirstNumber = 1u << 28;

// Each is given once, as long as there have not been more than there are. Relaxed: nothing else hangs on it.
uint32_t next_number() noexcept {
  static std::atomic<uint32_t> given{0};
  return kFirstNumber + given.fetch_add(1, std::memory_order_relaxed) % kFirstNumber;
}

// Right below the frames in which the donor has parked. Those who have not parked yet, or have gone on, use it no more.
uintptr_t free_stack_of(const Donor* donor) noexcept {
  constexpr uintptr_t kRedZone = 256;
  return (reinterpret_cast<uintptr_t>(donor->parked_at) - kRedZone) & ~uintptr_t{63};
}

void depart(transfer_t from) noexcept {
  auto* donor = static_cast<Donor*>(from.data);
  donor->parked_at = from.fctx;
  uint32_t seen = Donor::parked;
  // Release: who brings the donor back sees where it has parked. One that has been told to end goes too: it may have
  // run handlers, and a new thread has what the process has become meanwhile (setuid).
  while ((seen & ~uint32_t{Donor::ending}) == Donor::parked) {
    if (!donor->state.compare_exchange_weak(seen, seen | Donor::absent, std::memory_order_release)) continue;
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

}  // namespace

bool donors_may_leave() noexcept {
  // A sandbox may know one way to start threads alone, libc's.
  static const bool may = !is_watched() && run_apart(platform::thread_pointer(), [](void*) noexcept {}, nullptr);
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
  const uint32_t number = next_number();
  platform::become_bare_thread(os_thread);
  std::atomic_ref(*number_in_record).store(number);
  // Not for ever: in the child of a fork one may go on that has no thread any more.
  constexpr int kMostNaps = 10'000;
  constexpr timespec kNap{0, 100'000};
  for (int i = 0; i < kMostNaps && ChangeOfIds::goes_on(); ++i) platform::system_call(SYS_nanosleep, &kNap, nullptr);
  number_identity(static_cast<pid_t>(number));
  generation = platform::generation();
  leaves = true;
  return true;
}

bool Donor::leave_thread() noexcept {
  // The child of a fork that a handler has made has this thread alone.
  if (generation != platform::generation()) return false;
  // The stack of the jump lies below this frame, and is left before anything else uses it.
  constexpr uintptr_t kBelow = 1024;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  jump_fcontext(make_fcontext(reinterpret_cast<void*>((here - kBelow) & ~uintptr_t{63}), 0, depart), this);
  return true;
}

bool Donor::bring_back() noexcept {
  // The new thread inherits the mask, and no handler is to run under the donor's identity. Nor does one interrupt who
  // brings a donor back: it might wait for that.
  const SignalsBlocked blocked;
  uint32_t seen = state.load(std::memory_order_acquire);
  while ((seen & absent) == 0 ||
         !state.compare_exchange_weak(seen, (seen & ~uint32_t{absent}) | coming, std::memory_order_acq_rel)) {
    if ((seen & (absent | coming)) == 0) return true;
    if ((seen & coming) != 0) platform::futex_wait_for(state, seen, kLookNs);
    seen = state.load(std::memory_order_acquire);
  }
  platform::await_bare_thread(os_thread);
  if (platform::start_bare_thread(free_stack_of(this), thread_pointer, resume, this, os_thread)) return true;
  state.fetch_xor(absent | coming, std::memory_order_release);
  return false;
}

void Donor::become_thread() noexcept {
  thread_id = static_cast<pid_t>(os_thread.load(std::memory_order_relaxed));
  platform::become_libc_thread(number_in_record);
}

bool run_apart(uintptr_t identity, void (*run)(void*), void* argument) noexcept {
  constexpr size_t kStackSize = 64 << 10;
  const base::KeepErrno keep;
  void* stack = mmap(nullptr, kStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return false;
  Call call{run, argument};
  std::atomic<uint32_t> number{0};
  bool started = false;
  {
    const SignalsBlocked blocked;
    const auto top = reinterpret_cast<uintptr_t>(stack) + kStackSize;
    started = platform::start_bare_thread(top, identity, run_and_end, &call, number);
    platform::await_bare_thread(number);
  }
  munmap(stack, kStackSize);
  return started;
}

}  // namespace weft::core
