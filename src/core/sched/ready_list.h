// SPDX-License-Identifier: Apache-2.0
// Contexts that can go on, first in first out. Internal to core.
#pragma once

#include <atomic>
#include <cassert>

#include "core/context/context.h"
#include "platform/spinlock.h"

namespace weft::core {

class ReadyList {
 public:
  // Adds a chain of `count` contexts that ends with null.
  void push(Context* first, Context* last, int count) noexcept {
    lock_.lock();
    append(first, last, count);
    assert(is_valid());
    lock_.unlock();
  }

  // Adds one context, unless the lock is held or decide() says no; that is called with the lock held, right before. In
  // line, for callers whose sanitizer's state is another thread's.
  enum class Tried : uint8_t { refused, declined, pushed };
  template <class Decide>
  [[gnu::always_inline]] Tried try_push(Context* context, Decide&& decide) noexcept {
    if (!lock_.try_lock()) return Tried::refused;
    const bool decided = decide();
    if (decided) append(context, context, 1);
    lock_.unlock();
    return decided ? Tried::pushed : Tried::declined;
  }

  // The first context that serves `root` (null: any), or null.
  Context* pop(const Carrier* root = nullptr) noexcept {
    return pop_first([root](const Context* context) { return root == nullptr || context->root == root; });
  }

  // The first context that fits, or null.
  template <class Fits>
  Context* pop_first(Fits&& fits) noexcept {
    if (empty()) return nullptr;
    lock_.lock();
    Context* previous = nullptr;
    Context* context = first_;
    while (context != nullptr && !fits(context)) {
      previous = context;
      context = context->next;
    }
    if (context != nullptr) {
      (previous != nullptr ? previous->next : first_) = context->next;
      if (last_ == context) last_ = previous;
      size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
      taken_.store(taken_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    assert(is_valid());
    lock_.unlock();
    return context;
  }

  // Whether there is one that fits.
  template <class Fits>
  bool has(Fits&& fits) noexcept {
    if (empty()) return false;
    lock_.lock();
    const Context* context = first_;
    while (context != nullptr && !fits(context)) context = context->next;
    lock_.unlock();
    return context != nullptr;
  }

  // Hints: relaxed, since only the lock decides.
  bool empty() const noexcept { return size() == 0; }
  int size() const noexcept { return size_.load(std::memory_order_relaxed); }
  uint32_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }

 private:
  // With the lock held, both.
  [[gnu::always_inline]] void append(Context* first, Context* last, int count) noexcept {
    (last_ != nullptr ? last_->next : first_) = first;
    last_ = last;
    size_.store(size_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  bool is_valid() const noexcept {
    if (first_ == nullptr) return last_ == nullptr && size() == 0;
    return last_ != nullptr && last_->next == nullptr && size() > 0 && (first_ == last_) == (size() == 1);
  }

  platform::Spinlock lock_;
  std::atomic<int> size_{0};
  std::atomic<uint32_t> taken_{0};
  Context* first_ = nullptr;
  Context* last_ = nullptr;
};

}  // namespace weft::core
