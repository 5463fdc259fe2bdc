// SPDX-License-Identifier: Apache-2.0
#include "core/sched/parking.h"

#include <algorithm>
#include <mutex>
#include <new>

#include "core/sched/blocking.h"
#include "core/sched/parking_lists.h"
#include "core/sched/scheduler.h"

namespace weft::core {

namespace parking {

std::array<List, size_t{1} << kBits> g_lists;

void List::await(const Waiter& waiter) noexcept {
  while (!waiter.woken) {
    lock.unlock();
    block();
    lock.lock();
  }
  lock.unlock();
}

}  // namespace parking

using parking::kTakenAtOnce;
using parking::List;
using parking::list_of;
using parking::Taken;
using parking::Waiter;

void park(const std::atomic<uint32_t>& word, uint32_t expected) noexcept {
  List& list = list_of(&word);
  Waiter waiter{.context = attach(), .word = &word};
  list.lock.lock();
  if (word.load() != expected) {
    list.lock.unlock();
    return;
  }
  list.append(&waiter);
  list.await(waiter);
}

namespace {

// Takes up to `most` waiters of `word` out of the list. Returns how many it took.
int take_waiters(List& list, const void* word, int most, Taken& taken) noexcept {
  const std::lock_guard lock(list.lock);
  int count = 0;
  Waiter* previous = nullptr;
  for (Waiter* at = list.first; at != nullptr && count < most;) {
    Waiter* next = at->next;
    if (at->word == word) {
      taken[static_cast<size_t>(count++)] = at->context;
      list.take_out(previous, at);
    } else {
      previous = at;
    }
    at = next;
  }
  return count;
}

}  // namespace

void unpark(const std::atomic<uint32_t>& word, int count) noexcept {
  List& list = list_of(&word);
  for (int taken = kTakenAtOnce; taken == kTakenAtOnce && count > 0; count -= taken) {
    Taken contexts;
    taken = take_waiters(list, &word, std::min(count, kTakenAtOnce), contexts);
    for (int i = 0; i < taken; ++i) unblock(contexts[static_cast<size_t>(i)]);
  }
}

void forget_parked() noexcept {
  for (List& list : parking::g_lists) new (&list) List;
  parking::forget_brief();
}

}  // namespace weft::core
