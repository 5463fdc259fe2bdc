// SPDX-License-Identifier: Apache-2.0
// The word of what has an owner, by its very code, on the model: it passes to one at a time, nobody sleeps for ever,
// and one hears of each owner that is no more, be it that the kernel has marked the word or that its era has passed.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "exhaustive.h"
#include "model_ops.h"
#include "shm/sync/owner_word.h"

namespace weft::explore {

namespace {

namespace owner_word = shm::owner_word;
using shm::Taken;

constexpr uint32_t kEra = 5;
constexpr uint32_t kEarlierEra = 4;
constexpr int64_t kLongestSleep = 100;

struct OwnerOps {
  template <class Value>
  using Atomic = std::atomic<Value>;
  struct Pause {
    void once() noexcept { ModelOps::pause(); }
  };
  static bool must_not_sleep() noexcept { return false; }
  static int64_t now_ns() noexcept { return ModelOps::now_ns(); }
  static void wait_for_owner(const Atomic<uint64_t>& word, uint32_t expected, int64_t deadline_ns) noexcept {
    wait_until(&word, expected, std::min(deadline_ns, now_ns() + kLongestSleep));
  }
  static void wake_one_for_owner(const Atomic<uint64_t>& word) noexcept { wake(&word, 1); }
};

enum class First { free, of_an_earlier_era, marked };

class Model {
 public:
  Model(int threads, First first) : threads_(threads), first_(first) {}

  void set_up(Exhaustive& machine) {
    word_.make();
    // Of an earlier era an owner may have the number of somebody who is there now.
    if (first_ == First::of_an_earlier_era)
      word_.take_from(0, owner_word::of(1, kEarlierEra, 1) | owner_word::kWaiters);
    if (first_ == First::marked) word_.take_from(0, owner_word::kDied);
    one_ = two_ = inside_ = 0;
    untold_ = first_ != First::free;
    machine.at_kill = [this](int process) { mark(static_cast<uint32_t>(process)); };
    constexpr const char* kNames[] = {"first", "second", "third"};
    for (int i = 0; i < threads_; ++i) machine.add(kNames[i], i + 1, [this, i] { own(static_cast<uint32_t>(i + 1)); });
  }

  void check(Exhaustive& machine) {
    const uint64_t seen = word_.look();
    if (owner_word::is_owned(seen, kEra)) return machine.fail("the word has an owner");
    if (owner_word::is_free(seen) == untold_) return machine.fail("the next one does not hear of a death, or of none");
    if (!untold_ && one_ != two_) machine.fail("something is half done, and nobody says so");
  }

 private:
  static void fail(const char* what) { Exhaustive::running().fail(what); }
  static uint64_t word_of(uint32_t number) { return owner_word::of(number, kEra, number * 7); }

  Taken try_take(uint32_t number) {
    const uint64_t seen = word_.look();
    return owner_word::is_owned(seen, kEra) ? Taken::no : word_.take_from(seen, word_of(number));
  }

  void own(uint32_t number) {
    const Taken taken = word_.take(word_of(number), kForever, [&] { return try_take(number); });
    if (taken == Taken::no) return fail("it waits for ever, and gives up");
    if (inside_ != 0) fail("two have it");
    inside_ = number;
    if ((taken == Taken::after_death) != untold_) fail("a death is told twice, or to nobody");
    if (untold_) two_ = one_;
    untold_ = false;
    if (one_ != two_) fail("what the one before has written is not seen");
    one_ = one_ + 1;
    ModelOps::full_fence();  // others may come here
    two_ = two_ + 1;
    inside_ = 0;
    word_.give(word_of(number));
  }

  // As the kernel does when a thread is gone, and then it wakes one, which the model leaves to the bounded sleep.
  void mark(uint32_t number) {
    const uint64_t seen = word_.look();
    if (owner_word::number(seen) != number || g_mutation.no_death_mark) return;
    if (inside_ == number) inside_ = 0;
    untold_ = true;
    const uint64_t marked = (seen & ~owner_word::kNumber) | owner_word::kDied;
    reinterpret_cast<std::atomic<uint64_t>&>(word_).store(marked);
  }

  const int threads_;
  const First first_;
  shm::OwnerWord<OwnerOps> word_;
  // Not of the model: what is written by one at a time.
  int one_ = 0, two_ = 0;
  bool untold_ = false;  // an owner is no more, and the next one has not heard of that
  uint32_t inside_ = 0;
};

std::string explore(const char* what, int threads, First first, Options options) {
  Model model(threads, first);
  return explore("owners, " + std::to_string(threads) + " threads, " + what, model, options);
}

TEST(OwnerModel, OneAtATimeAndNobodySleepsForEver) {
  EXPECT_EQ(explore("free", 2, First::free, {.deviations = 4}), "");
  EXPECT_EQ(explore("free", 3, First::free, {.deviations = 3}), "");
}

TEST(OwnerModel, OneHearsOfAnOwnerOfAnEarlierEra) {
  EXPECT_EQ(explore("of an earlier era", 2, First::of_an_earlier_era, {.deviations = 4}), "");
  EXPECT_EQ(explore("of an earlier era", 3, First::of_an_earlier_era, {.deviations = 3}), "");
  EXPECT_EQ(explore("marked", 3, First::marked, {.deviations = 3}), "");
}

TEST(OwnerModel, OneHearsOfAnOwnerThatIsKilled) {
  EXPECT_EQ(explore("free", 2, First::free, {.deviations = 3, .kills = 1}), "");
  EXPECT_EQ(explore("free", 3, First::free, {.deviations = 2, .kills = 1}), "");
  EXPECT_EQ(explore("of an earlier era", 2, First::of_an_earlier_era, {.deviations = 2, .kills = 1}), "");
}

TEST(OwnerModel, WithoutWakingItIsFound) {
  g_mutation.no_wake = true;
  EXPECT_NE(explore("free", 2, First::free, {.deviations = 3}), "");
  g_mutation = {};
}

TEST(OwnerModel, WithoutMarksItIsFound) {
  g_mutation.no_death_mark = true;
  EXPECT_NE(explore("free", 2, First::free, {.deviations = 2, .kills = 1}), "");
  g_mutation = {};
}

}  // namespace

}  // namespace weft::explore
