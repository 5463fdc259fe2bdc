// SPDX-License-Identifier: Apache-2.0
// Contexts that all wait for one event and go on together, as at a barrier with more members than CPUs. To wake them
// one by one with unblock() costs several locked instructions each. Here contexts that last ran on the same carrier
// stand in one lane, and a release moves whole lanes to the ready lists.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/context/context.h"
#include "core/sched/parallel_call.h"
#include "platform/spinlock.h"

namespace weft::core {

// Protocol: a waiter takes a ticket, looks whether the event has come, and waits with the ticket. The thread that makes
// the event come calls release() after that. The ticket counts the releases, and is compared under the lane's lock when
// the waiter's stack is complete: a release in between makes the waiter go on at once.
class WaitQueue {
 public:
  WaitQueue() noexcept = default;
  ~WaitQueue() { delete[] lanes_; }
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;

  // Makes room for contexts of that many carriers; contexts of others share lanes. Called while no context waits.
  // Returns false where there is no memory.
  bool reserve(int lanes) noexcept;

  // Acquire: a waiter that gets a new ticket sees what was done before that release.
  uint32_t ticket() const noexcept { return releases_.load(std::memory_order_acquire); }

  // Leaves the CPU to others until a release later than the ticket. May return early. Returns false, at once, where
  // there is no other context to leave the CPU to.
  bool wait(uint32_t ticket) noexcept;

  // Lets all contexts that wait go on.
  void release() noexcept;

  // Called by the successor of a context that has left to wait.
  void take_in(Context* left) noexcept;

 private:
  // `alike`: all belong into the ready list of `carrier` and do the same `work`; so the release, which may run on
  // another CPU, need not look at them.
  struct Chain {
    Context* first = nullptr;
    Context* last = nullptr;
    Carrier* carrier = nullptr;
    Work work;
    int count = 0;
    bool alike = true;

    void add(Context* context) noexcept;

    // With the lane's lock held, or for a chain that has been taken out.
    bool is_valid() const noexcept {
      if (first == nullptr) return last == nullptr && count == 0;
      return last != nullptr && last->next == nullptr && count > 0 && (first == last) == (count == 1);
    }
  };
  struct alignas(64) Lane {
    platform::Spinlock lock;
    Chain chain;
  };

  std::atomic<uint32_t> releases_{0};
  int count_ = 0;  // a power of two, so that a carrier's lane is found without a division
  Lane* lanes_ = nullptr;
};

}  // namespace weft::core
