// SPDX-License-Identifier: Apache-2.0
// Brief waits end when the word stands still: when no waiter of it goes on for a while. A polling service looks at the
// lists now and then. unpark() takes the oldest waiter of a word; if that is the same one as at the look before, no
// waiter has gone on.
#include <algorithm>
#include <mutex>

#include "core/sched/blocking.h"
#include "core/sched/parking.h"
#include "core/sched/parking_lists.h"
#include "core/sched/polling.h"
#include "core/sched/scheduler.h"
#include "platform/cycles.h"

namespace weft::core {

using parking::g_lists;
using parking::kTakenAtOnce;
using parking::List;
using parking::list_of;
using parking::Taken;
using parking::Waiter;

namespace {

constexpr int64_t kBetweenLooksNs = 500'000;
// Each waiter that waits for good makes the brief ones wait longer; so many of them count, at most. With a lock that is
// held for a second, some sixty come to wait for good; and where hundreds of tasks have to, the last does not take
// seconds to find that out.
constexpr int kMostPatience = 32;
// After so many looks that have found nobody the service rests.
constexpr int kLooksInVain = 8;

enum class ServiceState : uint8_t { unregistered, registering, rests, looks };
// A waiter stands in the list first and then reads this; the service writes this first and then looks at the lists. The
// list's lock lies between, so one sees the other, and relaxed is enough.
constinit std::atomic<ServiceState> g_service{ServiceState::unregistered};
// Touched by the service alone.
constinit int64_t g_next_look_ns = 0;
constinit int g_looks_in_vain = 0;

// ---- with the list's lock held ----

bool is_first_of_word(const List& list, const Waiter* waiter) noexcept {
  const Waiter* at = list.first;
  while (at->word != waiter->word) at = at->next;
  return at == waiter;
}

// Returns the oldest brief waiter of a word if the word has stood still for long enough; or null. `first`: the oldest
// waiter of the word.
Waiter* waits_in_vain(Waiter* first, int64_t now_ns) noexcept {
  Waiter* oldest = nullptr;
  int for_good = 0;
  for (Waiter* at = first; at != nullptr; at = at->next) {
    if (at->word != first->word) continue;
    if (!at->briefly) ++for_good;
    if (at->briefly && oldest == nullptr) oldest = at;
  }
  if (oldest == nullptr) return nullptr;
  // The patience is a time, not a number of looks: a process that sleeps looks seldom.
  const int64_t patience_ns = kBetweenLooksNs * (1 + std::min(for_good, kMostPatience));
  const bool in_vain = first->still_since_ns != 0 && now_ns - first->still_since_ns >= patience_ns;
  if (in_vain || first->still_since_ns == 0) first->still_since_ns = now_ns;
  return in_vain ? oldest : nullptr;
}

Waiter* before(const List& list, const Waiter* waiter) noexcept {
  Waiter* previous = nullptr;
  for (Waiter* at = list.first; at != waiter; at = at->next) previous = at;
  return previous;
}

// ---- without it ----

// Takes the brief waiters that wait in vain out of the list, one for each word. Returns how many it took.
int take_those_in_vain(List& list, int64_t now_ns, Taken& taken) noexcept {
  const std::lock_guard lock(list.lock);
  int count = 0;
  for (Waiter* at = list.first; at != nullptr && count < kTakenAtOnce;) {
    Waiter* waiter = is_first_of_word(list, at) ? waits_in_vain(at, now_ns) : nullptr;
    Waiter* next = at->next;
    if (waiter != nullptr) {
      taken[static_cast<size_t>(count++)] = waiter->context;
      waiter->in_vain = true;
      list.take_out(before(list, waiter), waiter);
      if (next == waiter) next = waiter->next;
    }
    at = next;
  }
  return count;
}

// Wakes the brief waiters that wait in vain. Returns whether there are any brief waiters.
bool look_at_words(int64_t now_ns) noexcept {
  bool found = false;
  for (List& list : g_lists) {
    if (list.brief.load(std::memory_order_relaxed) == 0) continue;
    found = true;
    Taken contexts;
    const int count = take_those_in_vain(list, now_ns, contexts);
    for (int i = 0; i < count; ++i) unblock(contexts[static_cast<size_t>(i)]);
  }
  return found;
}

bool anybody_waits() noexcept {
  for (List& list : g_lists) {
    const std::lock_guard lock(list.lock);
    if (list.brief.load(std::memory_order_relaxed) > 0) return true;
  }
  return false;
}

int look(void*) noexcept {
  const int64_t now_ns = platform::now_ns();
  if (now_ns < g_next_look_ns) return 1;
  g_next_look_ns = now_ns + kBetweenLooksNs;
  g_looks_in_vain = look_at_words(now_ns) ? 0 : g_looks_in_vain + 1;
  if (g_looks_in_vain < kLooksInVain) return 1;
  g_looks_in_vain = 0;
  g_service.store(ServiceState::rests, std::memory_order_relaxed);
  if (!anybody_waits()) return 0;
  g_service.store(ServiceState::looks, std::memory_order_relaxed);
  return 1;
}

// Registers the service if it is not yet. Returns whether it is there to be asked to look.
bool is_registered() noexcept {
  ServiceState service = g_service.load(std::memory_order_relaxed);
  if (service != ServiceState::unregistered) return service != ServiceState::registering;
  if (!g_service.compare_exchange_strong(service, ServiceState::registering))
    return service != ServiceState::registering;
  const bool done = register_polling_service(look, nullptr, PollingAnswer::more) == 0;
  // Where there are too many services, the next waiter tries again.
  g_service.store(done ? ServiceState::rests : ServiceState::unregistered);
  return done;
}

}  // namespace

void parking::forget_brief() noexcept {
  if (g_service.load(std::memory_order_relaxed) == ServiceState::unregistered) return;
  // In the child of a fork the thread that was about to register the service, or to ask it to look, does not exist.
  const bool there = g_service.load(std::memory_order_relaxed) != ServiceState::registering;
  g_service.store(there ? ServiceState::rests : ServiceState::unregistered, std::memory_order_relaxed);
}

bool park_briefly(const std::atomic<uint32_t>& word, uint32_t expected) noexcept {
  List& list = list_of(&word);
  Waiter waiter{.context = attach(), .word = &word, .briefly = true};
  if (!is_registered()) return false;
  list.lock.lock();
  if (word.load() != expected) {
    list.lock.unlock();
    return true;
  }
  list.append(&waiter);
  if (g_service.load(std::memory_order_relaxed) != ServiceState::looks) {
    list.lock.unlock();
    g_service.store(ServiceState::looks, std::memory_order_relaxed);
    poll_soon();
    list.lock.lock();
  }
  list.await(waiter);
  return !waiter.in_vain;
}

}  // namespace weft::core
