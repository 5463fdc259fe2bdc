// SPDX-License-Identifier: Apache-2.0
// Contexts that one thread sets up first, and lets begin later.
#include <algorithm>

#include "core/sched/blocking.h"
#include "core/sched/free_contexts.h"
#include "core/sched/pool.h"
#include "core/sched/ready.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "core/sched/waking.h"
#include "core/sched/work.h"
#include "platform/fence.h"

namespace weft::core {

Context* make_context(void (*start)(void*), void* argument, int worker_hint) noexcept {
  Context* self = attach();
  Context* context = take_free(self->carrier, 0);
  if (context == nullptr) return nullptr;
  Pool& p = pool();
  context->start = start;
  context->start_argument = argument;
  context->root = self->root;
  context->carrier = self->carrier;
  const int workers = std::min(p.worker_count.load(std::memory_order_acquire), p.settings.slots - 1);
  context->preferred = nullptr;
  if (worker_hint % p.settings.slots != 0 && workers > 0) {
    context->carrier = p.worker((worker_hint - 1) % workers);
    // Only the first round of contexts prefers a carrier: where there are more contexts than slots, each had best stay
    // where it last ran.
    if (worker_hint < p.settings.slots) context->preferred = context->carrier;
  }
  context->token.store(Token::held);
  return context;
}

void launch(Context* context) noexcept {
  uint32_t expected = Token::held;
  if (context->token.compare_exchange_strong(expected, Token::none)) {
    make_ready(context);
  } else {
    unblock(context);
  }
}

bool take_to_launch(Context* context) noexcept {
  uint32_t expected = Token::held;
  if (context->token.compare_exchange_strong(expected, Token::none)) return true;
  expected = Token::suspended;
  if (context->token.compare_exchange_strong(expected, Token::none)) return true;
  unblock(context);
  return false;
}

void launch_together(Context* chain) noexcept {
  Pool& p = pool();
  Work work;
  int pushed = 0;
  while (chain != nullptr) {
    Context* context = chain;
    chain = chain->next;
    if (context->bodiless) {
      make_ready(context);
      continue;
    }
    work = work_of(context);
    context->next = nullptr;
    carrier_for(context)->ready.push(context, context, 1);
    ++pushed;
  }
  // An idle carrier is seen as idle here, or it sees the contexts in its list before it sleeps.
  platform::full_fence();
  const int called = call_waited_for(p, 0, pushed);
  if (pushed > called) notify_some(p, work, pushed - called);
}

bool hold(Context* context) noexcept {
  uint32_t expected = Token::suspended;
  return context->token.compare_exchange_strong(expected, Token::held);
}

void let_go(Context* context) noexcept { context->token.store(Token::suspended); }

bool make_bodiless(Context* stub, void (*start)(void*), void* argument, int worker_number) noexcept {
  Pool& p = pool();
  if (worker_number >= p.settings.slots || worker_number > p.worker_count.load(std::memory_order_acquire)) return false;
  Carrier* worker = p.worker(worker_number - 1);
  // The worker has to be idle: one that does something else may do so for long, and others begin the context in its
  // place only when it is late.
  if (!p.is_idle(worker) || !p.allowed(worker) || worker->spoken_for.exchange(true, std::memory_order_relaxed))
    return false;
  stub->bodiless = true;
  stub->start = start;
  stub->start_argument = argument;
  stub->root = attach()->root;
  stub->carrier = stub->preferred = worker;
  stub->token.store(Token::held);
  return true;
}

void release_bodiless(Context* stub) noexcept { stub->preferred->spoken_for.store(false, std::memory_order_relaxed); }

bool threads_refused() noexcept {
  const Pool* p = g_pool.load(std::memory_order_acquire);
  return p != nullptr && p->contexts.refused();
}

bool has_spare() noexcept {
  Carrier* carrier = attach()->carrier;
  if (carrier->free.at_hand.empty() && carrier->is_listed()) {
    if (Context* spare = take_free(carrier, 0)) put_free(carrier, spare);
  }
  return !carrier->free.at_hand.empty();
}

}  // namespace weft::core
