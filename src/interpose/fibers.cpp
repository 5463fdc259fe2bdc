// SPDX-License-Identifier: Apache-2.0
#include "interpose/fibers.h"

#include <new>
#include <utility>

#include <boost/context/detail/fcontext.hpp>

#include "core/api/records.h"
#include "interpose/fiber_stacks.h"
#include "platform/kept_registers.h"

namespace weft::interpose {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace {

// So many looks a patient caller makes before it begins further jobs itself: in that time, some 50 us, a carrier that
// has been called comes, even from sleep. To read a clock would cost more.
constexpr int kLooks = 2000;

// The fibers of the thread's innermost call.
thread_local Fibers* t_now = nullptr;

}  // namespace

// A job that has begun. It lies at the top of its stack.
struct Fibers::Fiber : FiberStack {
  void* continues = nullptr;
  Fiber* before = nullptr;
  Fiber* behind = nullptr;
  int index = 0;
};

struct Fibers::Switch {
  // Runs first after each switch: only now it is known where the fiber that has just been left goes on. `from.data`:
  // where to note that; null: that fiber has ended, and its stack is free now.
  static void arrive(transfer_t from) noexcept {
    if (from.data != nullptr) {
      *static_cast<void**>(from.data) = from.fctx;
    } else {
      FiberStack::put(std::exchange(t_now->ended_, nullptr));
    }
  }

  static void live(transfer_t from) {
    arrive(from);
    Fibers* self = t_now;
    self->run_one(self->current_->index);
    self->run();
    Fiber* ended = self->current_;
    ended->before->behind = ended->behind;
    ended->behind->before = ended->before;
    self->ring_ = ended->behind != ended ? ended->behind : nullptr;
    // If the caller only waits for the fibers, the next one goes on, and the caller after the last; else the caller
    // does at once.
    Fiber* next = self->closing_ ? self->ring_ : nullptr;
    self->current_ = next;
    self->ended_ = ended;
    jump_fcontext(next != nullptr ? next->continues : self->caller_, nullptr);
  }
};

void Fibers::open(core::ParallelCall* jobs, Job job, void* call, bool patient) noexcept {
  looks_left_ = patient ? kLooks : 0;
  jobs_ = jobs;
  claim_ = reinterpret_cast<const uint64_t*>(&jobs->claim);
  job_ = job;
  call_ = call;
  current_ = ring_ = ended_ = nullptr;
  closing_ = refused_ = false;
  ran_ = 0;
  outer_ = t_now;
  t_now = this;
}

void Fibers::run() noexcept {
  for (int index = jobs_->take(); index >= 0; index = jobs_->take()) run_one(index);
}

int Fibers::close() noexcept {
  closing_ = true;
  if (ring_ != nullptr) switch_to(ring_);
  t_now = outer_;
  return ran_;
}

void Fibers::run_one(int index) noexcept {
  job_(call_, index);
  ++ran_;
}

void Fibers::switch_to(Fiber* target) noexcept {
  void** left = current_ != nullptr ? &current_->continues : &caller_;
  current_ = target;
  Switch::arrive(jump_fcontext(target != nullptr ? target->continues : caller_, left));
}

void Fibers::begin(Fiber* fiber, int index) noexcept {
  fiber->index = index;
  fiber->continues = make_fcontext(fiber, 0, Switch::live);
  fiber->before = ring_ != nullptr ? ring_->before : fiber;
  fiber->behind = ring_ != nullptr ? ring_ : fiber;
  fiber->before->behind = fiber;
  fiber->behind->before = fiber;
  ring_ = fiber;
  switch_to(fiber);
}

void Fibers::run_others() noexcept {
  Fibers* self = t_now;
  if (!self->refused_ && self->looks_left_ <= 0 && self->jobs_->claimable()) {
    // The stack is taken before the job is claimed: a job that has been claimed has to be run.
    FiberStack* stack = FiberStack::take();
    self->refused_ = stack == nullptr;
    const int index = stack != nullptr ? self->jobs_->take() : -1;
    if (index >= 0) return self->begin(new (stack) Fiber, index);
    if (stack != nullptr) FiberStack::put(stack);
  }
  if (self->ring_ == nullptr) return;
  // They take turns in a circle: all fibers, and the caller after the last one.
  Fiber* next = self->current_ == nullptr ? self->ring_ : self->current_->behind;
  const bool all_had_theirs = self->current_ != nullptr && next == self->ring_ && !self->closing_;
  if (all_had_theirs) next = nullptr;
  if (next != self->current_) self->switch_to(next);
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

// Nothing here may touch a vector register: those are saved only where another fiber runs.
[[gnu::target("general-regs-only")]] bool Fibers::others_to_run() noexcept {
  __builtin_ia32_pause();
  Fibers* self = t_now;
  if (self == nullptr) return false;
  const uint64_t claim = __atomic_load_n(self->claim_, __ATOMIC_RELAXED);
  const bool unclaimed = static_cast<uint32_t>(claim) < static_cast<uint32_t>(claim >> 32);
  if (unclaimed && !self->refused_ && self->looks_left_-- <= 0) return true;
  if (self->ring_ == nullptr) return false;
  return self->current_ == nullptr || !self->closing_ || self->current_->behind != self->current_;
}

extern "C" {
[[gnu::target("general-regs-only"), gnu::used]] bool weft_others_to_run() { return Fibers::others_to_run(); }
[[gnu::used]] void weft_run_others() { Fibers::run_others(); }
void weft_wait_in_job();
}

WEFT_KEEPS_REGISTERS(weft_wait_in_job, weft_others_to_run, weft_run_others);

bool Fibers::possible() noexcept { return platform::keeps_registers(); }

const void* Fibers::wait_entry() noexcept { return reinterpret_cast<const void*>(&weft_wait_in_job); }

#else

bool Fibers::others_to_run() noexcept { return false; }
bool Fibers::possible() noexcept { return false; }
const void* Fibers::wait_entry() noexcept { return nullptr; }

#endif

}  // namespace weft::interpose
