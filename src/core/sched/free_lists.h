// SPDX-License-Identifier: Apache-2.0
// The lists of free contexts that each carrier has (core/sched/free_contexts.h). Internal to core.
#pragma once

#include <atomic>

#include "core/context/context.h"
#include "platform/spinlock.h"

namespace weft::core {

// First in, first out: the context that has been free for longest has most likely not served the parallel call in
// question.
class ContextQueue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  int size() const noexcept { return size_; }

  void add(Context* context) noexcept {
    ++size_;
    context->next = nullptr;
    (last_ != nullptr ? last_->next : first_) = context;
    last_ = context;
  }

  // Adds a context that is to be taken next.
  void add_first(Context* context) noexcept {
    ++size_;
    context->next = first_;
    first_ = context;
    if (last_ == nullptr) last_ = context;
  }

  // The first, if it fits; or null.
  template <class Fits>
  Context* take_first(Fits&& fits) noexcept {
    Context* context = first_;
    if (context == nullptr || !fits(context)) return nullptr;
    first_ = context->next;
    if (first_ == nullptr) last_ = nullptr;
    --size_;
    return context;
  }

  // The first that fits, or null.
  template <class Fits>
  Context* take(Fits&& fits) noexcept {
    Context* previous = nullptr;
    Context* context = first_;
    while (context != nullptr && !fits(context)) {
      previous = context;
      context = context->next;
    }
    if (context == nullptr) return nullptr;
    (previous != nullptr ? previous->next : first_) = context->next;
    if (last_ == context) last_ = previous;
    --size_;
    return context;
  }

  Context* take() noexcept {
    return take([](const Context*) { return true; });
  }

  template <class Visit>
  void visit(Visit&& visit) const noexcept {
    for (Context* context = first_; context != nullptr; context = context->next) visit(context);
  }

 private:
  Context* first_ = nullptr;
  Context* last_ = nullptr;
  int size_ = 0;
};

struct FreeContexts {
  // A carrier that switches between a few members needs fewer than these. A carrier that has to fetch contexts back
  // from the shelf has larger teams, each of whose members wants a context that has not served the team yet: it keeps
  // more.
  static constexpr int kFew = 8;

  // Touched by the carrier only: the contexts at hand, and how many of them it keeps. Half of these go to the shelf, or
  // come from there, at once, so that the lock is taken for every fourth context at most.
  ContextQueue at_hand;
  int kept = kFew;

  // Guards what follows. Other carriers take it only when they run short, so there is hardly ever a wait.
  alignas(64) platform::Spinlock lock;
  ContextQueue shelf;
  std::atomic<int> shelved{0};  // the size of `shelf`; relaxed outside of the lock: a guess whether to look
  std::atomic<int> donors{0};  // how many of these are donated, so that their threads can end; relaxed, as above
  int unused = 0;  // how many have been on the shelf all the time since the monitor's last look

  // With the lock held.
  void put_on_shelf(Context* context) noexcept {
    shelf.add(context);
    count(context, 1);
  }
  template <class Fits>
  Context* take_from_shelf(Fits&& fits) noexcept {
    Context* context = shelf.take(fits);
    if (context == nullptr) return nullptr;
    count(context, -1);
    unused = unused < shelf.size() ? unused : shelf.size();
    return context;
  }

 private:
  void count(const Context* context, int change) noexcept {
    shelved.store(shelf.size(), std::memory_order_relaxed);
    if (context->donated) donors.store(donors.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }
};

}  // namespace weft::core
