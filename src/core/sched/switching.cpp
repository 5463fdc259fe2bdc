// SPDX-License-Identifier: Apache-2.0
#include "core/sched/switching.h"

#include "core/context/free_contexts.h"
#include "core/context/signals.h"
#include "core/sched/carrier_binding.h"
#include "core/sched/ready.h"
#include "core/sched/wait_queue.h"
#include "platform/rseq.h"

namespace weft::core {

namespace {

// Read at every switch, written hardly ever. Acquire: with the function comes what it uses.
alignas(64) std::atomic<SwitchObserver> g_observer{nullptr};

void observe(const Context* self, bool leaving) noexcept {
  const SwitchObserver observer = g_observer.load(std::memory_order_acquire);
  if (__builtin_expect(observer != nullptr, 0)) observer(leaving, self->carrier->index);
}

// A root leaves its OS thread for the first time: from now on that one may run others, and others may run the root.
[[gnu::cold, gnu::noinline]] void leave_rseq_of(Context* root) noexcept {
  root->rseq = platform::leave_rseq() ? Rseq::none : Rseq::refused;
  platform::take_rseq_area(root->carrier->rseq_area);
}

// Handlers run in the place of the target. Whether it is to be left for it all the same: the target has been awaited.
[[gnu::cold, gnu::noinline]] bool await_its_handlers(Context* self, Context* target, Departure departure) noexcept {
  if (!target->ends) {
    go_on(self);
    return false;
  }
  await_target(self, target, departure);
  return true;
}

}  // namespace

void set_switch_observer(SwitchObserver observer) noexcept { g_observer.store(observer, std::memory_order_release); }

void switch_counted(Context* self, Context* target, Departure departure) noexcept {
  begin_to_leave(self, departure);
  if (__builtin_expect(!occupy(target, self), 0) && !await_its_handlers(self, target, departure)) return;
  Carrier* carrier = self->carrier;
  carrier->statistics.switches.add();
  if (__builtin_expect(self->rseq == Rseq::held, 0)) leave_rseq_of(self);
  if (target->cpus != nullptr) {
    bind_carrier(carrier, target->cpus);
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
      // Notified meanwhile; nobody else knows of it now. By an exchange, as in block.cpp.
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
