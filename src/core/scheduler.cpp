// SPDX-License-Identifier: Apache-2.0
#include "core/scheduler.h"

#include <algorithm>
#include <new>

#include <pthread.h>

#include "core/carrier.h"
#include "core/context_pool.h"
#include "platform/cycles.h"
#include "platform/futex.h"

namespace weft::core {

namespace {

constexpr uint32_t kAwake = static_cast<uint32_t>(Wake::none);
constexpr uint32_t kNotified = static_cast<uint32_t>(Wake::notified);
constexpr uint32_t kSleeping = static_cast<uint32_t>(Wake::sleeping);

struct Pool {
  Settings settings;
  Spinlock lock;  // of carriers, contexts
  std::atomic<int> carrier_count{0};
  std::array<std::atomic<Carrier*>, kMaxCarriers> carriers{};
  Carrier* spare_roots = nullptr;
  ContextPool* contexts = nullptr;
  std::atomic<int> active_roots{0};
  alignas(64) std::atomic<int> idle_count{0};
  std::array<std::atomic<uint64_t>, kMaxCarriers / 64> idle{};
  std::atomic<uint64_t> next_serial{1};
};

Pool g_pool;
pthread_once_t g_once = PTHREAD_ONCE_INIT;
Settings g_requested;

Context* life(void*);

// ---- free contexts ----

void put_free(Carrier* carrier, Context* context) noexcept {
  context->next = nullptr;
  (carrier->free_last != nullptr ? carrier->free_last->next : carrier->free_first) = context;
  carrier->free_last = context;
}

// A free context that has not served the bundle `avoid`, if one can be had; else any; else null.
Context* take_free(Carrier* carrier, uint64_t avoid) noexcept {
  Context* context = carrier->free_first;
  const bool fits = context != nullptr && (avoid == 0 || context->last_bundle != avoid);
  if (!fits) {
    g_pool.lock.lock();
    Context* made = g_pool.contexts->take();
    g_pool.lock.unlock();
    if (made != nullptr) {
      prepare(made, life, nullptr);
      return made;
    }
    if (context == nullptr) return nullptr;
  }
  carrier->free_first = context->next;
  if (carrier->free_first == nullptr) carrier->free_last = nullptr;
  return context;
}

// ---- waking ----

void wake(Carrier* carrier) noexcept {
  if (carrier->wake.exchange(kNotified) == kSleeping) platform::futex_wake(carrier->wake, 1);
}

void set_idle(Carrier* carrier, bool idle) noexcept {
  const uint64_t bit = uint64_t{1} << (carrier->index % 64);
  auto& word = g_pool.idle[carrier->index / 64];
  const uint64_t before = idle ? word.fetch_or(bit) : word.fetch_and(~bit);
  if (((before & bit) != 0) != idle) g_pool.idle_count.fetch_add(idle ? 1 : -1);
}

// Pool workers give way to roots: together they are no more than the slots.
bool allowed(const Carrier* carrier) noexcept {
  return carrier->root != nullptr ||
         carrier->index < g_pool.settings.slots - g_pool.active_roots.load(std::memory_order_relaxed);
}

// Wakes one idle carrier that may do the work of `group`. The caller has published that work before.
void notify(Carrier* group) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (g_pool.idle_count.load(std::memory_order_relaxed) == 0) return;
  const int count = g_pool.carrier_count.load(std::memory_order_acquire);
  for (int base = 0; base < count; base += 64) {
    auto& word = g_pool.idle[base / 64];
    for (uint64_t bits = word.load(); bits != 0; bits &= bits - 1) {
      const int index = base + __builtin_ctzll(bits);
      Carrier* carrier = g_pool.carriers[index].load(std::memory_order_acquire);
      if (carrier->root != nullptr ? carrier != group : !allowed(carrier)) continue;
      const uint64_t bit = bits & -bits;
      if ((word.fetch_and(~bit) & bit) == 0) continue;
      g_pool.idle_count.fetch_sub(1);
      wake(carrier);
      return;
    }
  }
}

void make_ready(Context* context) noexcept {
  if (context->home != nullptr) {
    context->home->root_ready.store(context);
    wake(context->home);
    return;
  }
  Carrier* carrier = context->carrier;
  carrier->ready.push(context);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const uint64_t bit = uint64_t{1} << (carrier->index % 64);
  if ((g_pool.idle[carrier->index / 64].load(std::memory_order_relaxed) & bit) != 0) {
    wake(carrier);
  } else {
    notify(context->group);
  }
}

void departed(Context* left) {
  switch (left->departure) {
    case Departure::block: {
      uint32_t expected = Token::none;
      if (left->token.compare_exchange_strong(expected, Token::suspended)) return;
      left->token.store(Token::none);  // notified meanwhile; nobody else knows of it now
      make_ready(left);
      return;
    }
    case Departure::yield:
      make_ready(left);
      return;
    case Departure::idle:
      put_free(left->carrier, left);
      return;
    case Departure::none:
      return;
  }
}

// ---- choosing ----

void leave_idle_for(Context* self, Context* target) noexcept {
  self->departure = Departure::idle;
  switch_to(target);
  self->departure = Departure::none;
}

void finish(Bundle* bundle) noexcept {
  if (bundle->pending.fetch_sub(1) != 1) return;
  if (Context* sleeper = bundle->sleeper.load()) unblock(sleeper);
}

void run_claimed(Context* self, Bundle* bundle, int index) noexcept {
  Carrier* carrier = self->carrier;
  if (self->last_bundle == bundle->serial) {
    Context* fresh = take_free(carrier, bundle->serial);
    if (fresh != nullptr) {
      fresh->claimed = bundle;
      fresh->claimed_index = index;
      leave_idle_for(self, fresh);
      return;
    }
  }
  self->last_bundle = bundle->serial;
  self->group = bundle->root;
  carrier->progress.store(carrier->progress.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
  bundle->call(bundle, index);
  finish(bundle);
}

// Whether `carrier` may do the work of `group`: a root helps itself only, so that it is never far away.
bool serves(const Carrier* carrier, const Carrier* group) noexcept {
  return carrier->root == nullptr || carrier == group;
}

bool claim_from(Context* self, Carrier* carrier, Carrier* victim, bool newest_first) noexcept {
  const int top = std::min(victim->open_top.load(std::memory_order_acquire), kOpenBundles);
  for (int i = 0; i < top; ++i) {
    Bundle* bundle = victim->open[newest_first ? top - 1 - i : i].load(std::memory_order_acquire);
    if (bundle == nullptr || !bundle->claimable()) continue;
    if (carrier->root != nullptr && bundle->root != carrier) continue;
    const int index = bundle->take();
    if (index < 0) continue;
    run_claimed(self, bundle, index);
    return true;
  }
  return false;
}

bool resume_from(Context* self, Carrier* carrier, Carrier* victim) noexcept {
  Context* context = victim->ready.pop();
  if (context == nullptr) return false;
  if (!serves(carrier, context->group)) {
    victim->ready.push(context);
    return false;
  }
  carrier->progress.store(carrier->progress.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
  leave_idle_for(self, context);
  return true;
}

// Does one piece of work, if there is any. Afterwards `self` may be on another carrier.
bool step(Context* self) noexcept {
  Carrier* carrier = self->carrier;
  if (self->claimed != nullptr) {
    Bundle* bundle = self->claimed;
    self->claimed = nullptr;
    run_claimed(self, bundle, self->claimed_index);
    return true;
  }
  if (carrier->root_ready.load(std::memory_order_relaxed) != nullptr) {
    if (Context* root = carrier->root_ready.exchange(nullptr)) {
      leave_idle_for(self, root);
      return true;
    }
  }
  if (claim_from(self, carrier, carrier, true)) return true;
  if (resume_from(self, carrier, carrier)) return true;
  if (!allowed(carrier)) return false;
  const int count = g_pool.carrier_count.load(std::memory_order_acquire);
  for (int i = 1; i < count; ++i) {
    Carrier* victim =
        g_pool.carriers[(carrier->index + i) % count].load(std::memory_order_acquire);
    if (victim == carrier) continue;
    if (claim_from(self, carrier, victim, false)) return true;
    if (resume_from(self, carrier, victim)) return true;
  }
  return false;
}

// A hint: step() is likely to find something.
bool work_in_sight(const Carrier* carrier) noexcept {
  if (carrier->root_ready.load(std::memory_order_relaxed) != nullptr) return true;
  const int count = g_pool.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier* victim = g_pool.carriers[i].load(std::memory_order_acquire);
    if (victim != carrier && !allowed(carrier)) continue;
    if (victim == carrier || carrier->root == nullptr) {
      if (!victim->ready.empty()) return true;
    }
    const int top = std::min(victim->open_top.load(std::memory_order_acquire), kOpenBundles);
    for (int k = 0; k < top; ++k) {
      const Bundle* bundle = victim->open[k].load(std::memory_order_acquire);
      if (bundle != nullptr && bundle->claimable() && serves(carrier, bundle->root)) return true;
    }
  }
  return false;
}

void idle(Context* self) noexcept {
  Carrier* carrier = self->carrier;
  carrier->wake.store(kAwake);
  set_idle(carrier, true);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  // Work published before this point may have found nobody idle.
  if (work_in_sight(carrier)) {
    set_idle(carrier, false);
    return;
  }
  const int64_t deadline = platform::now_ns() + g_pool.settings.spin_ns;
  for (int spins = 0; carrier->wake.load(std::memory_order_acquire) == kAwake; ++spins) {
    platform::pause();
    if (spins % 64 == 63 && platform::now_ns() > deadline) {
      uint32_t expected = kAwake;
      if (!carrier->wake.compare_exchange_strong(expected, kSleeping)) break;
      while (carrier->wake.load() == kSleeping) platform::futex_wait(carrier->wake, kSleeping);
      break;
    }
  }
  set_idle(carrier, false);
}

Context* life(void*) {
  Context* self = current_context();
  for (;;) {
    if (!step(self)) idle(self);
  }
}

// ---- carriers ----

Carrier* add_carrier(Context* root) noexcept {
  g_pool.lock.lock();
  Carrier* carrier = root != nullptr ? g_pool.spare_roots : nullptr;
  if (carrier != nullptr) {
    g_pool.spare_roots = nullptr;
  } else {
    const int index = g_pool.carrier_count.load(std::memory_order_relaxed);
    if (index < kMaxCarriers) carrier = new (std::nothrow) Carrier;
    if (carrier != nullptr) {
      carrier->index = index;
      carrier->root = root;
      g_pool.carriers[index].store(carrier, std::memory_order_release);
      g_pool.carrier_count.store(index + 1, std::memory_order_release);
    }
  }
  if (carrier != nullptr) carrier->root = root;
  g_pool.lock.unlock();
  return carrier;
}

void* worker_main(void* argument) {
  auto* carrier = static_cast<Carrier*>(argument);
  Context* self = current_context();
  self->carrier = carrier;
  life(nullptr);
  return nullptr;
}

void start_pool() {
  g_pool.settings = g_requested;
  set_departure_handler(departed);
  g_pool.contexts = new (std::nothrow) ContextPool(g_pool.settings.stack_size);
  for (int i = 0; i < g_pool.settings.slots; ++i) {
    Carrier* carrier = add_carrier(nullptr);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, g_pool.settings.stack_size);
    pthread_create(&thread, &attributes, worker_main, carrier);
    pthread_detach(thread);
    pthread_attr_destroy(&attributes);
  }
}

}  // namespace

void start(const Settings& settings) noexcept {
  static Spinlock lock;
  lock.lock();
  g_requested = settings;
  pthread_once(&g_once, start_pool);
  lock.unlock();
}

int slots() noexcept { return g_pool.settings.slots; }

Context* attach() noexcept {
  Context* self = current_context();
  if (self->carrier == nullptr) {
    Carrier* carrier = add_carrier(self);
    self->carrier = carrier;
    self->home = carrier;
    self->group = carrier;
    g_pool.active_roots.fetch_add(1);
  }
  return self;
}

Context* make_context(Entry entry, void* argument) noexcept {
  Context* self = attach();
  g_pool.lock.lock();
  Context* context = g_pool.contexts->take();
  g_pool.lock.unlock();
  if (context == nullptr) return nullptr;
  prepare(context, entry, argument);
  context->group = self->group;
  context->carrier = self->carrier;
  context->token.store(Token::suspended);
  return context;
}

void publish(Bundle* bundle, int count) noexcept {
  Context* self = attach();
  Carrier* carrier = self->carrier;
  // Ranges of serials a carrier would be cheaper still; one add a nested region is some 5 ns.
  bundle->serial = g_pool.next_serial.fetch_add(1, std::memory_order_relaxed);
  self->last_bundle = bundle->serial;
  bundle->root = self->group;
  bundle->publisher = carrier;
  bundle->pending.store(count - 1, std::memory_order_relaxed);
  bundle->sleeper.store(nullptr, std::memory_order_relaxed);
  // Release: a claimer that reads this value, or one added to it, sees the fields above.
  bundle->claim.store(1 | (static_cast<uint64_t>(count) << 32), std::memory_order_release);

  int top = carrier->open_top.load(std::memory_order_relaxed);
  while (top > 0 && carrier->open[top - 1].load(std::memory_order_relaxed) == nullptr) --top;
  bundle->open_index = -1;
  if (top < kOpenBundles) {
    carrier->open[top].store(bundle, std::memory_order_release);
    carrier->open_top.store(top + 1, std::memory_order_release);
    bundle->open_index = top;
  }
  notify(bundle->root);
}

void join(Bundle* bundle) noexcept {
  Context* self = current_context();
  while (bundle->pending.load() != 0) {
    bundle->sleeper.store(self);
    if (bundle->pending.load() == 0) break;
    block();
  }
  bundle->sleeper.store(nullptr, std::memory_order_relaxed);
  if (bundle->open_index >= 0) {
    bundle->publisher->open[bundle->open_index].store(nullptr, std::memory_order_release);
  }
}

void block() noexcept {
  Context* self = current_context();
  uint32_t expected = Token::notified;
  if (self->token.compare_exchange_strong(expected, Token::none)) return;
  Context* successor = take_free(self->carrier, self->last_bundle);
  if (successor == nullptr) {
    expected = Token::none;
    if (self->token.compare_exchange_strong(expected, Token::sleeping)) {
      while (self->token.load() == Token::sleeping) {
        platform::futex_wait(self->token, Token::sleeping);
      }
    }
    self->token.store(Token::none);
    return;
  }
  self->departure = Departure::block;
  switch_to(successor);
  self->departure = Departure::none;
}

void unblock(Context* context) noexcept {
  uint32_t seen = context->token.load();
  for (;;) {
    const uint32_t next = seen == Token::suspended ? uint32_t{Token::none} : uint32_t{Token::notified};
    if (!context->token.compare_exchange_weak(seen, next)) continue;
    if (seen == Token::suspended) make_ready(context);
    if (seen == Token::sleeping) {
      platform::futex_wake(context->token, 1);
    }
    return;
  }
}

void yield() noexcept {
  Context* self = current_context();
  Carrier* carrier = self->carrier;
  if (carrier == nullptr || carrier->ready.empty()) return;
  Context* successor = take_free(carrier, 0);
  if (successor == nullptr) return;
  self->departure = Departure::yield;
  switch_to(successor);
  self->departure = Departure::none;
}

}  // namespace weft::core
