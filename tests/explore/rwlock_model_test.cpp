// SPDX-License-Identifier: Apache-2.0
// The reader-writer lock, by its very code, on the model.
#define WEFT_RWLOCK_LOAD_(word, order) \
  static_cast<uint32_t>(weft::explore::Explorer::running()->load(word, sizeof(uint32_t)))
#define WEFT_RWLOCK_STORE_(word, value, order) \
  weft::explore::Explorer::running()->store(word, sizeof(uint32_t), value, true)
#define WEFT_RWLOCK_EXCHANGE_(word, value) \
  weft::explore::Explorer::running()->update(word, sizeof(uint32_t), [&](uint64_t) { return uint64_t{value}; })
#define WEFT_RWLOCK_LIGHT_FENCE_() static_cast<void>(0)
#include "explorer.h"
#include "weft/rwlock.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "model_ops.h"
#include "shm/rwlock/protocol.h"

namespace weft::explore {

namespace {

using Protocol = shm::RwlockProtocol<ModelOps>;
using Layout = Protocol::Layout;
using Slot = Protocol::Slot;

constexpr uint32_t kSlots = 2;

struct Case {
  int readers;
  int writers;
  bool fair;
  bool fenced;
  int rounds = 1;
  bool tries = false;  // the writers only try
  bool upgrades = false;  // the readers want to write while they are in
};

// A lock with what it guards, and who is inside.
class Model {
 public:
  explicit Model(Case wanted) : case_(wanted), memory_(new char[shm::rwlock_bytes<ModelOps>(kSlots) + 128]) {}

  void set_up(Explorer& explorer) {
    auto* const begin = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory_.get()) + 127) / 128 * 128);
    std::memset(begin, 0, shm::rwlock_bytes<ModelOps>(kSlots));
    layout_ = reinterpret_cast<Layout*>(begin);
    Protocol::make(*layout_, kSlots, case_.fair, case_.fenced);
    first_ = second_ = 0;
    reading_ = writing_ = 0;
    died_inside_ = false;
    explorer.at_kill = [this](int) { died_inside_ = died_inside_ || layout_->writing.load() != 0; };
    for (int i = 0; i < case_.readers; ++i) explorer.add(i == 0 ? "reader" : "reader 2", i + 1, [this] { read(); });
    for (int i = 0; i < case_.writers; ++i) {
      explorer.add(i == 0 ? "writer" : "writer 2", 10 + i, [this] { write(); });
    }
  }

  // All have ended or are dead: a new one gets the lock, and hears of a death if there was one inside.
  void check(Explorer& explorer) {
    Protocol lock(*layout_, kSlots);
    const int code = lock.lock(Protocol::kNow);
    if (code != 0 && code != EOWNERDEAD) return explorer.fail("the lock is not free: " + std::to_string(code));
    if (code == EOWNERDEAD && !died_inside_) return explorer.fail("a death is reported that was not inside");
    if (code == 0 && first_ != second_) return explorer.fail("the data is torn, and nobody says so");
    if (code == EOWNERDEAD) lock.mend();
    lock.unlock();
    Slot* const slot = lock.claim(case_.fenced);
    if (slot == nullptr) return explorer.fail("the slots of the dead are taken");
    weft_rwlock_reader reader{reinterpret_cast<uint32_t*>(slot)};
    if (weft_rwlock_step_in_(&reader) == 0 && lock.enter(*slot, Protocol::kNow) != 0)
      explorer.fail("readers are kept out");
  }

 private:
  static Explorer& explorer() { return *Explorer::running(); }

  void read() {
    Protocol lock(*layout_, kSlots);
    Slot* const slot = lock.claim(case_.fenced);
    if (slot == nullptr) return explorer().fail("no slot");
    weft_rwlock_reader reader{reinterpret_cast<uint32_t*>(slot)};
    for (int round = 0; round < case_.rounds; ++round) {
      if (weft_rwlock_step_in_(&reader) == 0) {
        const int code = lock.enter(*slot, kForever);
        if (code == EOWNERDEAD) return;  // until somebody mends it
        if (code != 0) return explorer().fail("a reader got " + std::to_string(code));
      }
      ++reading_;
      if (writing_ > 0 && !dead_writer()) explorer().fail("a reader is in beside a writer");
      const uint64_t first = explorer().load(&first_, 8);
      const uint64_t second = explorer().load(&second_, 8);
      if (first != second) explorer().fail("a reader sees half of what was written");
      if (case_.upgrades) {
        const int code = lock.lock(kForever);
        if (code != EDEADLK) return explorer().fail("a reader that writes got " + std::to_string(code));
      }
      --reading_;
      leave(reader, lock, *slot);
    }
    lock.leave(*slot);
  }

  // As weft_rwlock_rdunlock(), whose calls out of line are the library's.
  static void leave(weft_rwlock_reader& reader, Protocol& lock, Slot& slot) {
    const auto depth = static_cast<uint32_t>(explorer().load(reader.slot, 4));
    explorer().store(reader.slot, 4, depth & WEFT_RWLOCK_FENCED_, true);
    if (explorer().load(reader.slot + 1, 4) != 0) lock.left(slot);
  }

  void write() {
    Protocol lock(*layout_, kSlots);
    for (int round = 0; round < case_.rounds; ++round) {
      const int code = lock.lock(case_.tries ? Protocol::kNow : kForever);
      if (code == EBUSY && case_.tries) continue;
      if (code == EOWNERDEAD) {
        explorer().store(&second_, 8, explorer().load(&first_, 8), false);
        lock.mend();
      } else if (code != 0) {
        return explorer().fail("a writer got " + std::to_string(code));
      }
      ++writing_;
      if (!anybody_dead() && (writing_ > 1 || reading_ > 0)) explorer().fail("a writer is in beside somebody");
      const uint64_t first = explorer().load(&first_, 8);
      if (code == 0 && first != explorer().load(&second_, 8)) explorer().fail("a writer sees half of what was written");
      explorer().store(&first_, 8, first + 1, false);
      explorer().store(&second_, 8, first + 1, false);
      --writing_;
      lock.unlock();
    }
  }

  bool dead_writer() const { return explorer().killed(10) || explorer().killed(11); }
  bool anybody_dead() const { return dead_writer() || explorer().killed(1) || explorer().killed(2); }

  const Case case_;
  std::unique_ptr<char[]> memory_;
  Layout* layout_ = nullptr;
  uint64_t first_ = 0;
  uint64_t second_ = 0;
  int reading_ = 0;
  int writing_ = 0;
  bool died_inside_ = false;
};

bool long_run() { return std::getenv("WEFT_TEST_EXPLORE") != nullptr; }

Result explore(Case wanted, Options options) {
  Model model(wanted);
  // A reader that makes its fences itself may miss a writer that falls asleep: weft/rwlock.h.
  options.may_oversleep = wanted.fenced;
  Explorer explorer(options);
  const Result result = explorer.run([&](Explorer& e) { model.set_up(e); }, [&](Explorer& e) { model.check(e); });
  std::printf("readers %d, writers %d%s%s, %d deviations, %d kills: %llu executions%s, %llu steps, %d at most in one\n",
              wanted.readers, wanted.writers, wanted.fair ? ", fair" : "", wanted.fenced ? ", portable" : "",
              options.deviations, options.kills, static_cast<unsigned long long>(result.executions),
              result.complete ? "" : " (not all)", static_cast<unsigned long long>(result.steps), result.longest);
  return result;
}

Options options_of(int deviations, int kills = 0) {
  Options options;
  options.deviations = deviations + (long_run() ? 1 : 0);
  options.kills = kills;
  options.most_executions = long_run() ? 2'000'000 : 400'000;
  return options;
}

class RwlockModel : public testing::TestWithParam<std::tuple<bool, bool>> {};
INSTANTIATE_TEST_SUITE_P(Modes, RwlockModel, testing::Combine(testing::Bool(), testing::Bool()));

TEST_P(RwlockModel, OneReaderAndOneWriter) {
  const auto [fair, fenced] = GetParam();
  EXPECT_EQ(explore({1, 1, fair, fenced}, options_of(3)).violation, "");
  EXPECT_EQ(explore({1, 1, fair, fenced, 2}, options_of(2)).violation, "");
}

TEST_P(RwlockModel, TwoReadersAndTwoWriters) {
  const auto [fair, fenced] = GetParam();
  EXPECT_EQ(explore({2, 1, fair, fenced}, options_of(2)).violation, "");
  EXPECT_EQ(explore({1, 2, fair, fenced}, options_of(2)).violation, "");
  EXPECT_EQ(explore({2, 2, fair, fenced}, options_of(1)).violation, "");
}

TEST_P(RwlockModel, SomebodyIsKilledAnywhere) {
  const auto [fair, fenced] = GetParam();
  EXPECT_EQ(explore({1, 1, fair, fenced}, options_of(2, 1)).violation, "");
  EXPECT_EQ(explore({1, 2, fair, fenced}, options_of(2, 1)).violation, "");
  EXPECT_EQ(explore({2, 1, fair, fenced}, options_of(2, 1)).violation, "");
}

TEST_P(RwlockModel, WritersThatTry) {
  const auto [fair, fenced] = GetParam();
  EXPECT_EQ(explore({1, 2, fair, fenced, 1, true}, options_of(2)).violation, "");
}

TEST_P(RwlockModel, AReaderThatWantsToWriteIsToldSoBesideAWriterToo) {
  const auto [fair, fenced] = GetParam();
  EXPECT_EQ(explore({1, 1, fair, fenced, 1, false, true}, options_of(2)).violation, "");
}

// What the checker must find: a protocol on a machine that does less than it promises.
class RwlockMutation : public testing::Test {
 protected:
  ~RwlockMutation() override { g_mutation = {}; }
};

TEST_F(RwlockMutation, AHeavyFenceThatDoesNothingIsFound) {
  g_mutation.no_heavy_fence = true;
  EXPECT_NE(explore({1, 1, false, false, 2}, options_of(3)).violation, "");
}

TEST_F(RwlockMutation, FencesThatDoNothingAreFound) {
  g_mutation.no_full_fence = true;
  EXPECT_NE(explore({1, 1, false, false, 2}, options_of(3)).violation, "");
}

TEST_F(RwlockMutation, WakeUpsThatAreLostAreFound) {
  g_mutation.no_wake = true;
  EXPECT_NE(explore({1, 1, false, false}, options_of(2)).violation, "");
}

TEST_F(RwlockMutation, DeathsThatNobodyMarksAreFound) {
  g_mutation.no_death_mark = true;
  EXPECT_NE(explore({1, 1, false, false}, options_of(2, 1)).violation, "");
}

}  // namespace

}  // namespace weft::explore
