// SPDX-License-Identifier: Apache-2.0
// Planted faults in handshakes: the explorer has to find each.
#include <atomic>
#include <cstdint>

#include "platform/fence.h"
#include "platform/futex.h"
#include "programs/program.h"

namespace weft::explore {

namespace {

// One writes a word and reads whether the other sleeps; that one says that it sleeps and reads the word.
enum class Missing { none, wakers_fence, sleepers_fence, second_look, wake };

template <Missing kMissing>
class SleepAndWake final : public Program {
 public:
  void run(int thread) override {
    if (thread == 1) {
      while (posted_.load(std::memory_order_acquire) == 0) sleep();
    } else {
      posted_.store(1, std::memory_order_release);
      if (kMissing != Missing::wakers_fence) platform::full_fence();
      if (asleep_.load(std::memory_order_relaxed) == 0) return;
      asleep_.store(0, std::memory_order_relaxed);
      if (kMissing != Missing::wake) platform::futex_wake(asleep_, 1);
    }
  }

 private:
  void sleep() {
    asleep_.store(1, std::memory_order_relaxed);
    if (kMissing != Missing::sleepers_fence) platform::full_fence();
    if (kMissing == Missing::second_look || posted_.load(std::memory_order_relaxed) == 0)
      platform::futex_wait(asleep_, 1);
    asleep_.store(0, std::memory_order_relaxed);
  }

  std::atomic<uint32_t> posted_{0};
  std::atomic<uint32_t> asleep_{0};
};

const Registered kRight({"sleep_and_wake", 2, make<SleepAndWake<Missing::none>>});
const Registered kNoWakersFence({"fault_no_wakers_fence", 2, make<SleepAndWake<Missing::wakers_fence>>, true});
const Registered kNoSleepersFence({"fault_no_sleepers_fence", 2, make<SleepAndWake<Missing::sleepers_fence>>, true});
const Registered kNoSecondLook({"fault_no_second_look", 2, make<SleepAndWake<Missing::second_look>>, true});
const Registered kNoWake({"fault_no_wake", 2, make<SleepAndWake<Missing::wake>>, true});

// Data behind a flag.
template <std::memory_order kStore, std::memory_order kLoad>
class Publish final : public Program {
 public:
  void run(int thread) override {
    if (thread == 1) {
      data_.store(1, std::memory_order_relaxed);
      plain_ = 1;
      flag_.store(1, kStore);
    } else if (thread == 2) {
      int seen = flag_.load(std::memory_order_relaxed);
      // A read-modify-write goes on with what has been released.
      if (seen == 1) flag_.fetch_add(1, std::memory_order_relaxed);
    } else if (flag_.load(kLoad) == 2) {
      expect(data_.load(std::memory_order_relaxed) == 1, "the flag came before the data");
      expect(plain_ == 1, "the flag came before the data");
    }
  }

 private:
  std::atomic<int> data_{0};
  std::atomic<int> flag_{0};
  int plain_ = 0;
};

const Registered kPublish({"publish", 3, make<Publish<std::memory_order_release, std::memory_order_acquire>>});
const Registered kNoRelease({"fault_no_release", 3, make<Publish<std::memory_order_relaxed, std::memory_order_acquire>>,
                             true});
const Registered kNoAcquire({"fault_no_acquire", 3, make<Publish<std::memory_order_release, std::memory_order_relaxed>>,
                             true});

// A sequentially consistent store and a load do not do for a fence, unless the load is so as well: two that each store
// and look both pass.
template <std::memory_order kLoad>
class Exclude final : public Program {
 public:
  void run(int thread) override {
    std::atomic<int>& mine = wants_[thread - 1];
    std::atomic<int>& theirs = wants_[2 - thread];
    mine.store(1);
    if (theirs.load(kLoad) == 0) entered_.fetch_add(1);
  }
  void check() override { expect(entered_.load() < 2, "both have entered"); }

 private:
  std::atomic<int> wants_[2]{};
  std::atomic<int> entered_{0};
};

const Registered kExclude({"exclude", 2, make<Exclude<std::memory_order_seq_cst>>});
const Registered kWeakExclude({"fault_weak_exclude", 2, make<Exclude<std::memory_order_acquire>>, true});

}  // namespace

}  // namespace weft::explore
