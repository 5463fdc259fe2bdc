// SPDX-License-Identifier: Apache-2.0
#include "core/sched/switching.h"

#include "core/context/signals.h"
#include "core/sched/carrier_binding.h"
#include "core/sched/free_contexts.h"
#include "core/sched/ready.h"
#include "core/sched/switch_observer.h"
#include "core/sched/wait_queue.h"
#include "platform/rseq.h"

namespace weft::core {

namespace {

// To be called when a root leaves its OS thread for the first time: from now on that thread may run other contexts, and
// other threads may run the root.
[[gnu::cold, gnu::noinline]] void leave_rseq_of(Context* root) noexcept {
  root->rseq = platform::leave_rseq() ? Rseq::none : Rseq::refused;
  platform::take_rseq_area(root->carrier->rseq_area);
}

// Called where handlers of signals run as the target, so `self` cannot leave for it now. Returns false where `self`
// goes on; true where it has to leave all the same: then the target has been waited for.
[[gnu::cold, gnu::noinline]] bool await_its_handlers(Context* self, Context* target, Departure departure) noexcept {
  if (!target->ends) {
    go_on(self);
    return false;
  }
  await_target(self, target, departure);
  return true;
}

}  // namespace

void switch_counted(Context* self, Context* target, Departure departure) noexcept {
  begin_to_leave(self, departure);
  if (__builtin_expect(!occupy(target, self), 0) && !await_its_handlers(self, target, departure)) return;
  Carrier* carrier = self->carrier;
  carrier->statistics.switches.add();
  if (__builtin_expect(self->rseq == Rseq::held, 0)) leave_rseq_of(self);
  if (target->cpus != nullptr) {
    // A root that weft has not bound has a mask of its own, which it would not get back.
    const bool unreturnable = target->pinned && carrier->is_root() && carrier->own_context.cpus == nullptr;
    if (!unreturnable) bind_carrier(carrier, target->cpus);
  } else if (target->parallel_call.load(std::memory_order_relaxed) != nullptr) {
    return_to_place(carrier);
  }
  observe(self, true);
  switch_between(self, target);
  observe(self, false);
}

void departed(Context* left) noexcept {
  switch (left->departure) {
    case Departure::block: {
      uint32_t expected = Token::none;
      if (left->token.compare_exchange_strong(expected, Token::suspended)) return;
      // The context has been notified meanwhile, so only this thread can make it ready. It is an exchange as in
      // take_notice() (block.cpp).
      left->token.exchange(Token::none);
      make_ready(left);
      return;
    }
    case Departure::queue: left->queue->take_in(left); return;
    case Departure::yield: make_ready(left); return;
    case Departure::idle: put_free(left->carrier, left); return;
    case Departure::none:
    case Departure::elsewhere: return;
  }
}

}  // namespace weft::core
