// SPDX-License-Identifier: Apache-2.0
#include "core/sched/switching.h"

#include "core/sched/wait_queue.h"
#include "core/sched/waking.h"

namespace weft::core {

alignas(64) std::atomic<SwitchObserver> g_switch_observer{nullptr};

void set_switch_observer(SwitchObserver observer) noexcept {
  g_switch_observer.store(observer, std::memory_order_release);
}

void leave_rseq_of(Context* root) noexcept {
  root->rseq = platform::leave_rseq() ? Rseq::none : Rseq::refused;
  platform::take_rseq_area(root->carrier->rseq_area);
}

void departed(Context* left) noexcept {
  switch (left->departure) {
    case Departure::block: {
      uint32_t expected = Token::none;
      if (left->token.compare_exchange_strong(expected, Token::suspended)) return;
      left->token.store(Token::none);  // notified meanwhile; nobody else knows of it now
      make_ready(left);
      return;
    }
    case Departure::queue: left->queue->take_in(left); return;
    case Departure::yield: make_ready(left); return;
    case Departure::idle: put_free(left->carrier, left); return;
    case Departure::none: return;
  }
}

}  // namespace weft::core
