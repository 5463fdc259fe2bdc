// SPDX-License-Identifier: Apache-2.0
#include "stand_in/core.h"

#include "core/api/budget.h"
#include "core/sched/block.h"
#include "core/sched/blocking.h"
#include "core/sched/cpu_spread.h"
#include "core/sched/free_contexts.h"
#include "core/sched/job_tokens.h"
#include "core/sched/polling.h"
#include "core/sched/pool.h"
#include "core/sched/ready.h"
#include "core/sched/release_idle.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"
#include "core/sched/switching.h"
#include "core/sched/upcalls.h"
#include "core/sched/wait_queue.h"
#include "platform/cpus.h"
#include "platform/futex.h"
#include "programs/program.h"

// Not this computer's: runs are to be the same everywhere.
int weft::platform::cpus_of_machine() noexcept { return weft::explore::StandInCore::kMostThreads; }

namespace weft::core {

std::atomic<Pool*> g_pool{nullptr};
constinit std::atomic<uint32_t> detail::g_wanted{0};
constinit std::atomic<bool> g_binding_used{false};

}  // namespace weft::core

namespace weft::explore {

namespace {

StandInCore* g_core = nullptr;

}  // namespace

// The pool's tables are large, and nobody is to be told of each word.
StandInCore::StandInCore(int threads) : threads_(threads) {
  const Unobserved unobserved;
  g_core = this;
  // Mostly nobody spins, as that makes runs long and seldom leads to a sleep.
  pool_ = std::make_unique<core::Pool>(core::Settings{.slots = threads, .spin_ns = choose(4) == 0 ? 1 : 0});
  core::g_pool.store(pool_.get());
  pool_->active_roots.store(1);
  for (int i = 0; i <= threads; ++i) {
    // The root is the last carrier, so that the workers' numbers are their indices.
    const int worker = i - 2;
    const int index = i == 0 ? core::kMaxCarriers : i == 1 ? threads - 1 : worker;
    auto& carrier = carriers_[static_cast<size_t>(i)];
    carrier = std::make_unique<core::Carrier>(index, i < 2 ? -1 : worker);
    carrier->own_context.carrier = carrier.get();
    carrier->own_context.root = carriers_[i == 0 ? 0 : 1].get();
    if (i == 1) carrier->own_context.home = carrier.get();
    if (i == 0) continue;
    pool_->carriers.put(index, carrier.get());
    if (worker >= 0) pool_->workers.put(worker, carrier.get());
  }
  pool_->carrier_count.store(threads);
  pool_->worker_count.store(threads - 1);
}

StandInCore::~StandInCore() {
  core::g_pool.store(nullptr);
  g_core = nullptr;
}

core::Context& StandInCore::context(int thread) { return carriers_[static_cast<size_t>(thread)]->own_context; }

void StandInCore::await_launch(int first_thread) {
  first_launched_ = first_thread;
  for (int i = first_thread; i <= threads_; ++i) context(i).token.store(core::Token::held);
}

void StandInCore::run_launched() {
  core::Context& self = context(current_thread());
  while (self.token.load() == core::Token::held) platform::futex_wait(self.token, core::Token::held);
  self.start(self.start_argument);
}

}  // namespace weft::explore

namespace weft::core {

using explore::current_thread;
using explore::g_core;

Context* current_context() noexcept { return &g_core->context(current_thread()); }
Context* attach() noexcept { return current_context(); }
int slots() noexcept { return pool().settings.slots; }

// ---- contexts that begin ----

void launch(Context* context) noexcept {
  uint32_t expected = Token::held;
  if (context->token.compare_exchange_strong(expected, Token::none)) {
    platform::futex_wake(context->token, 1);
  } else {
    unblock(context);
  }
}

bool take_to_launch(Context* context) noexcept {
  launch(context);
  return false;
}
void launch_together(Context*) noexcept {}

// The context of the thread behind the caller's, that of number 1 being the owner's; without a hint, of the first one
// that waits for a launch.
Context* make_context(void (*start)(void*), void* argument, int worker_hint) noexcept {
  Context& context = g_core->context(worker_hint > 0 ? 1 + worker_hint : g_core->first_launched());
  context.start = start;
  context.start_argument = argument;
  return &context;
}
bool make_bodiless(Context*, void (*)(void*), void*, int) noexcept { return false; }
bool has_spare() noexcept { return true; }
ContextPool::ContextPool(size_t stack_size) noexcept : stack_size_(stack_size) {}
ContextPool::~ContextPool() = default;
void want_workers(int) noexcept {}
void want_cpus(int) noexcept {}
bool threads_refused() noexcept { return false; }
int carrier_number() noexcept {
  const Carrier* carrier = current_context()->carrier;
  return carrier != nullptr && carrier->is_listed() ? carrier->index : -1;
}
void grow_workers(int) noexcept {}

// ---- nothing to switch to ----

Context* find_free(Carrier*, uint64_t) noexcept { return nullptr; }
Context* find_at_hand(Carrier*, uint64_t) noexcept { return nullptr; }
Context* take_free(Carrier*, uint64_t, bool) noexcept { return nullptr; }
Context* make_free() noexcept { return nullptr; }
void shelve(Carrier*, int) noexcept {}
Context* release_before_sleep(Context*) noexcept { return nullptr; }
void release_slot(Carrier*) noexcept {}
void hold_slot(Carrier*) noexcept {}
void release_in_place(Context*) noexcept {}

// ---- CPUs and messages are others' concern ----

void CpuSpread::move_if_shared(Carrier*, bool) noexcept {}
bool CpuSpread::yield(Carrier*, int64_t) noexcept { return false; }
void poll_services() noexcept {}
void poll_soon() noexcept {}
int register_polling_service(PollingService, void*, PollingAnswer) noexcept { return 0; }
SleepingPoller::SleepingPoller() noexcept : elected_(false), began_(0) {}
bool SleepingPoller::polls() noexcept { return false; }
int64_t SleepingPoller::rest_ns() noexcept { return 0; }
void SleepingPoller::resign() noexcept {}

// ---- queues ----

// Its successor puts it there when its stack is complete. What it waits for is another word here, since its token is
// for those who unblock it.
bool leave(Context* self, Departure departure) noexcept {
  if (departure != Departure::queue) return false;
  std::atomic<uint32_t>& gone = self->occupied;
  gone.store(1);
  self->queue->take_in(self);
  while (gone.load() == 1) platform::futex_wait(gone, 1);
  return true;
}

Carrier* carrier_for(const Context* context) noexcept { return context->carrier; }

void make_ready(Context* context) noexcept {
  context->occupied.store(0);
  platform::futex_wake(context->occupied, 1);
}

void make_all_ready(Context* chain) noexcept {
  while (chain != nullptr) {
    Context* context = chain;
    chain = chain->next;
    make_ready(context);
  }
}

bool ReadyTogether::add(Carrier*, Work, Context* first, Context*, int) noexcept {
  make_all_ready(first);
  return true;
}
void ReadyTogether::call() noexcept {}

}  // namespace weft::core
