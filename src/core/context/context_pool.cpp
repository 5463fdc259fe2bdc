// SPDX-License-Identifier: Apache-2.0
#include "core/context/context_pool.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "base/message.h"
#include "core/context/create_thread.h"
#include "core/context/donor.h"
#include "core/context/own_settings.h"
#include "core/context/set_ids.h"
#include "core/context/signals.h"
#include "core/context/stack_overflow.h"
#include "platform/futex.h"
#include "platform/rseq.h"
#include "platform/service_thread.h"

namespace weft::core {

namespace {

// The sleeping donor keeps its frames at the top of the stack. glibc's signal for set*id cannot be
// blocked and its handler runs there too, so the context begins this far below: room for that handler
// and the largest signal frame (with AVX-512 state).
constexpr size_t kDonorReserve = 32 * 1024;

void (*g_identity_ends)() = nullptr;  // written once, before the first context is made

// Waits until the donor sleeps in the kernel, which writes nothing into its memory from then on.
void await_sleep(const std::atomic<uint32_t>& state) noexcept {
  constexpr int kMostLooks = 10'000;
  for (int i = 0; i < kMostLooks && !platform::futex_has_sleeper(state, Donor::parked); ++i) sched_yield();
}

// To a thread that is cancelled, and is in a call that waits or has asked for it at any time, libc sends a signal of
// its own by the number of the thread. Its handler would unwind the donor under the carrier that runs the identity. No
// function of libc blocks it; that of set*id, the next one, must come (core/context/set_ids.h).
void block_cancellation() noexcept {
  constexpr int kCancel = 32;
  constexpr SignalMask kMask = SignalMask{1} << (kCancel - 1);
  platform::system_call(SYS_rt_sigprocmask, SIG_BLOCK, &kMask, nullptr, sizeof kMask);
}

// Makes a record like a new one, except for its token and its signals: a late unblock() and a late sender of a signal
// may still touch these, which block() allows for.
void renew(Donor* donor) noexcept {
  donor->entry = nullptr;
  donor->next = nullptr;
  donor->start = nullptr;
  donor->carrier = donor->home = donor->root = donor->preferred = nullptr;
  donor->cpus = nullptr;
  donor->pinned = false;
  donor->cpu_time = {};
  if (donor->own != nullptr) *donor->own = OwnSettings();
  donor->last_parallel_call = 0;
  donor->claimed = nullptr;
  donor->queue = nullptr;
  donor->leaves = false;
  donor->state.store(Donor::starting, std::memory_order_relaxed);  // published by the start of the thread
}

// Who asks libc for the stack of a thread is told of no thread where the kernel knows none of its number. Nobody runs
// the identity yet, so the number may be the caller's for the moment.
void note_stack(Donor* donor) noexcept {
  const auto number = static_cast<uint32_t>(donor->thread_id);
  if (donor->leaves) std::atomic_ref(*donor->number_in_record).store(static_cast<uint32_t>(gettid()));
  const StackBounds stack = stack_of(donor->thread);
  if (donor->leaves) std::atomic_ref(*donor->number_in_record).store(number);
  donor->stack_end = stack.end;
  donor->stack_size = stack.size;
}

}  // namespace

void* ContextPool::donor_main(void* argument) {
  auto* donor = static_cast<Donor*>(argument);
  platform::leave_service_name();
  refuse_cancellation();
  block_cancellation();
  bind_identity(donor);
  // The kernel would go on writing the CPU number of this thread, not of the one that runs the identity.
  if (!platform::leave_rseq()) donor->rseq = Rseq::refused;
  auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  make_idle(donor, reinterpret_cast<void*>((frame - kDonorReserve) & ~uintptr_t{63}));
  if (donor->leaves) donor->leaves = donor->begin_to_leave_threads();
  donor->state.store(Donor::parked, std::memory_order_release);
  platform::futex_wake(donor->state, 1);
  donor->serve();
  if (donor->leaves) donor->become_thread();
  // From here on the donor is a thread like others: if destructors of its thread-local objects use OpenMP, it attaches
  // as a root, and a library that stops threads by signals waits for it. The system may give its number to another
  // thread.
  std::atomic_ref(donor->thread_id).store(0, std::memory_order_relaxed);
  bind_identity(nullptr);
  open_to_signals();
  if (g_identity_ends != nullptr) g_identity_ends();
  return nullptr;
}

// Release: a thread that goes through the list finds records that are complete.
void ContextPool::list(Donor* donor) noexcept {
  donor->next_of_all = all_.load(std::memory_order_relaxed);
  all_.store(donor, std::memory_order_release);
}

ContextPool::ContextPool(size_t stack_size) noexcept : stack_size_(stack_size) {
  constexpr int kFirst = 32;
  for (int i = 0; i < kFirst; ++i) {
    auto* donor = new (std::nothrow) Donor;
    if (donor == nullptr) return;
    list(donor);
    donor->next = ended_;
    ended_ = donor;
  }
}

Context* ContextPool::make(bool needed, size_t with_threads) noexcept {
  const base::KeepErrno keep;
  Donor* donor = ended_;
  if (donor != nullptr) {
    ended_ = static_cast<Donor*>(donor->next);
    renew(donor);
  } else {
    donor = new (std::nothrow) Donor;
    if (donor == nullptr) return nullptr;
    list(donor);
  }

  // A parked donor must not run signal handlers: they would use its identity and stack while the context
  // runs elsewhere. The mask is inherited, so it is set around the creation.
  sigset_t all;
  sigset_t previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);

  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t wanted = stack_size_ + kDonorReserve + static_cast<size_t>(sysconf(_SC_THREAD_STACK_MIN));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (wanted + kGuardSize + page - 1) & ~(page - 1));
  pthread_attr_setguardsize(&attributes, kGuardSize);
  donor->leaves = size() >= with_threads && donors_may_leave();
  // The record is in the list before its thread exists: a leak checker does not look at the stack on which this runs.
  enlist(donor);
  const int error =
      has_room_for(stack_size_) ? create_thread(&donor->thread, attributes, donor_main, donor, !refused()) : ENOMEM;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  if (error == 0) watch_set_ids();
  if (error != 0) {
    delist(donor);
    reuse(donor);
    if (needed) note_refusal(error);
    return nullptr;
  }

  while (donor->state.load(std::memory_order_acquire) == Donor::starting) {
    platform::futex_wait(donor->state, Donor::starting);
  }
  if (donor->rseq == Rseq::refused) {
    await_sleep(donor->state);
    platform::disclaim_rseq(donor->thread_pointer);
  }
  note_stack(donor);
  donor->donated = true;
  size_.store(size() + 1, std::memory_order_relaxed);
  most_ = std::max(most_, size());
  return donor;
}

void ContextPool::note_refusal(int error) noexcept {
  if (refused_.exchange(true, std::memory_order_relaxed)) return;
  base::warn("the system refuses another thread (%s; see ulimit -u, -v): regions get fewer than they ask for",
             strerrordesc_np(error));
}

void ContextPool::enlist(Donor* donor) noexcept {
  donor->previous_made = nullptr;
  donor->next_made = made_;
  if (made_ != nullptr) made_->previous_made = donor;
  made_ = donor;
}

void ContextPool::delist(const Donor* donor) noexcept {
  (donor->previous_made != nullptr ? donor->previous_made->next_made : made_) = donor->next_made;
  if (donor->next_made != nullptr) donor->next_made->previous_made = donor->previous_made;
}

void ContextPool::withdraw(const Context* context) noexcept {
  delist(static_cast<const Donor*>(context));
  size_.store(size() - 1, std::memory_order_relaxed);
  ++withdrawn_;
}

void ContextPool::begin_end(Context* context) noexcept {
  auto* donor = static_cast<Donor*>(context);
  donor->state.fetch_or(Donor::ending, std::memory_order_release);
  platform::futex_wake(donor->state, 1);
}

bool ContextPool::has_thread_to_end(Context* context) noexcept { return static_cast<Donor*>(context)->bring_back(); }

bool ContextPool::has_ended(Context* context) noexcept {
  return has_thread_to_end(context) && pthread_tryjoin_np(static_cast<Donor*>(context)->thread, nullptr) == 0;
}

size_t ContextPool::threads() const noexcept {
  size_t count = 0;
  for (const Donor* donor = made_; donor != nullptr; donor = donor->next_made) count += donor->leaves ? 0 : 1;
  return count;
}

ContextPool::Ended ContextPool::end(Context* chain) noexcept {
  constexpr timespec kNap{0, 50'000};
  constexpr int kMostRefusals = 2'000;  // a tenth of a second in all
  const base::KeepErrno keep;
  Ended result;
  int refusals = 0;
  while (Context* context = chain) {
    chain = context->next;
    auto* donor = static_cast<Donor*>(context);
    begin_end(context);
    if (!donor->leaves) {
      pthread_join(donor->thread, nullptr);
    } else {
      while (!has_ended(context) && refusals < kMostRefusals) {
        refusals += (donor->state.load() & Donor::absent) != 0 ? 1 : 0;
        platform::system_call(SYS_nanosleep, &kNap, nullptr);
      }
      if (refusals == kMostRefusals && !has_ended(context)) {
        context->next = std::exchange(result.later, context);
        continue;
      }
    }
    context->next = std::exchange(result.ended, context);
  }
  return result;
}

void ContextPool::reuse(Context* chain) noexcept {
  while (Context* context = chain) {
    chain = context->next;
    context->next = ended_;
    ended_ = static_cast<Donor*>(context);
  }
}

ContextPool::~ContextPool() {
  while (Donor* donor = ended_) {
    ended_ = static_cast<Donor*>(donor->next);
    delete donor;
  }
}

bool has_room_for(size_t stack_size) noexcept {
  constexpr size_t kForTheProgram = 16u << 20;
  const size_t size = stack_size + kGuardSize + kForTheProgram;
  const base::KeepErrno keep;
  void* probe = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) return false;
  munmap(probe, size);
  return true;
}

namespace {

void trim_below(const Context* context, uintptr_t used) noexcept {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (context->stack_end + page - 1) & ~(page - 1);
  const uintptr_t end = used & ~(page - 1);
  const base::KeepErrno keep;
  if (context->stack_end != 0 && begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace

void trim_stack(Context* context) noexcept {
  // The red zone right below the stack pointer may be in use too. While handlers run there, all may be in use.
  constexpr uintptr_t kRedZone = 256;
  const SignalsBlocked blocked;
  if (!occupy_now(context)) return;
  trim_below(context, reinterpret_cast<uintptr_t>(context->stack_pointer) - kRedZone);
  vacate(context);
}

void trim_own_stack(const Context* self) noexcept {
  // So much of the stack this call itself needs.
  constexpr uintptr_t kInUse = 16 * 1024;
  trim_below(self, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - kInUse);
}

void set_identity_end(void (*ending)()) noexcept { g_identity_ends = ending; }

}  // namespace weft::core
