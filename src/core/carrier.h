// SPDX-License-Identifier: Apache-2.0
// A carrier: what a running OS thread brings to the scheduler. Pool workers and roots are carriers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/bundle.h"
#include "core/context.h"
#include "core/spinlock.h"

namespace weft::core {

inline constexpr int kMaxCarriers = 1024;
inline constexpr int kOpenBundles = 64;

// Contexts that can go on, first in first out. `size` may be read without the lock as a hint.
class ReadyList {
 public:
  void push(Context* context) noexcept {
    lock_.lock();
    context->next = nullptr;
    (last_ != nullptr ? last_->next : first_) = context;
    last_ = context;
    size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    lock_.unlock();
  }

  // The first context, or null.
  Context* pop() noexcept {
    if (empty()) return nullptr;
    lock_.lock();
    Context* context = first_;
    if (context != nullptr) {
      first_ = context->next;
      if (first_ == nullptr) last_ = nullptr;
      size_.store(size_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    lock_.unlock();
    return context;
  }

  // A hint: relaxed, since only the lock decides.
  bool empty() const noexcept { return size_.load(std::memory_order_relaxed) == 0; }

 private:
  Spinlock lock_;
  std::atomic<int> size_{0};
  Context* first_ = nullptr;
  Context* last_ = nullptr;
};

enum class Wake : uint32_t {
  none,      // idle and looking, or busy
  notified,  // there may be work
  sleeping,  // in the futex
};

struct alignas(64) Carrier {
  int index = -1;
  Context* root = nullptr;  // the root's own context; null for a pool worker

  // Free contexts, oldest first; touched by this carrier only.
  Context* free_first = nullptr;
  Context* free_last = nullptr;

  // Counted by this carrier only, read by the monitor and the statistics.
  std::atomic<uint64_t> progress{0};

  alignas(64) ReadyList ready;
  // The root's context, when it can go on. Set by anybody, taken by this carrier (or, in a stall, by
  // another one with exchange).
  std::atomic<Context*> root_ready{nullptr};

  // Bundles with members to claim, oldest first. Written by this carrier, except that a primary member
  // that has moved away clears its own entry.
  alignas(64) std::array<std::atomic<Bundle*>, kOpenBundles> open{};
  std::atomic<int> open_top{0};

  // Sequentially consistent: "publish, then look for sleepers" against "fall asleep, then look for work".
  alignas(64) std::atomic<uint32_t> wake{0};
};

}  // namespace weft::core
