// SPDX-License-Identifier: Apache-2.0
// Those who spin for a lock in line: one at a time is first, and what it guards is plain. Some go while they wait, some
// when they are first; at last each waits until it is first.
#include "openmp/lock/spin_queues.h"

#include <array>

#include "base/address_hash.h"
#include "faults/spin_queues.h"
#include "platform/cycles.h"
#include "programs/program.h"

namespace weft::explore {

namespace {

constexpr int kThreads = 4;
constexpr int kNumbers = kThreads + 1;

// For two locks that meet in the table, of which one has no queue while the other has one.
template <template <size_t> class Queues>
class SpinQueuesProgram final : public Program {
 public:
  SpinQueuesProgram() {
    for (uint32_t& word : words_) {
      if (&word != lock_of(0) && slot_of(&word) == slot_of(lock_of(0))) other_ = &word;
    }
    expect(other_ != nullptr, "no two locks meet");
  }
  void run(int thread) override {
    for (int round = 0; round < 2; ++round) {
      const unsigned lock = choose(2);
      if (queues_.enter(thread, lock_of(lock))) pass_through(thread, lock, choose(3));
    }
    while (!queues_.enter(thread, lock_of(0))) platform::pause();
    while (!queues_.is_first(thread)) platform::pause();
    pass_through(thread, 0, 1);
  }
  void check() override {
    // Who has left could come back to its place for the lock it has left.
    const void* another = &words_[1];
    for (int number = 0; number < kNumbers; ++number) {
      expect(queues_.enter(number, another), "a place is not out");
      expect(queues_.is_first(number) == (number == 0), "the queue was not empty");
    }
    for (size_t lock : {0, 1}) expect(inside_[lock] == told_[lock].load(std::memory_order_relaxed), "two were first");
  }

 private:
  static size_t slot_of(const void* lock) { return base::address_hash<8>(reinterpret_cast<uintptr_t>(lock) >> 2); }
  const uint32_t* lock_of(unsigned lock) const { return lock == 0 ? words_.data() : other_; }

  void pass_through(int thread, unsigned lock, unsigned polls) {
    bool first = false;
    for (; polls > 0 && !(first = queues_.is_first(thread)); --polls) platform::pause();
    if (first) {
      ++inside_[lock];
      told_[lock].fetch_add(1, std::memory_order_relaxed);
    }
    queues_.leave(thread, lock_of(lock));
  }

  Queues<kNumbers> queues_;
  std::array<uint32_t, 4096> words_{};
  const uint32_t* other_ = nullptr;
  std::array<int, 2> inside_{};
  std::array<std::atomic<int>, 2> told_{};
};

const Registered kSpinQueues({"spin_queues", kThreads, make<SpinQueuesProgram<openmp::SpinQueues>>});
const Registered kFaulty({"fault_spin_queues", kThreads, make<SpinQueuesProgram<openmp::FaultySpinQueues>>, true});

}  // namespace

}  // namespace weft::explore
