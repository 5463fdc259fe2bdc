// SPDX-License-Identifier: Apache-2.0
// The reader-writer lock, by its very code, on the model.
#include "weft/rwlock.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "exhaustive.h"
#include "model_ops.h"
#include "shm/rwlock/protocol.h"

namespace weft::explore {

namespace {

using Protocol = shm::RwlockProtocol<ModelOps>;
using Layout = Protocol::Layout;
using Record = Protocol::Record;

constexpr uint32_t kReaders = 2;

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
  explicit Model(Case wanted) : case_(wanted), memory_(new char[shm::rwlock_bytes<ModelOps>(kReaders) + 128]) {}

  void set_up(Exhaustive& machine) {
    auto* const begin = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory_.get()) + 127) / 128 * 128);
    std::memset(begin, 0, shm::rwlock_bytes<ModelOps>(kReaders));
    layout_ = reinterpret_cast<Layout*>(begin);
    Protocol::make(*layout_, kReaders, case_.fair, case_.fenced);
    first_ = second_ = 0;
    reading_ = writing_ = 0;
    died_inside_ = false;
    machine.at_kill = [this](int) { died_inside_ = died_inside_ || layout_->writing.load() != 0; };
    for (int i = 0; i < case_.readers; ++i) machine.add(i == 0 ? "reader" : "reader 2", i + 1, [this] { read(); });
    for (int i = 0; i < case_.writers; ++i) {
      machine.add(i == 0 ? "writer" : "writer 2", 10 + i, [this] { write(); });
    }
  }

  // All have ended or are dead: a new one gets the lock, and hears of a death if there was one inside.
  void check(Exhaustive& machine) {
    if (!dead_writer() && layout_->writing.load() != 0) return machine.fail("a writer has left its mark");
    Protocol lock(*layout_, kReaders);
    const int code = lock.lock(Protocol::kNow);
    if (code != 0 && code != EOWNERDEAD) return machine.fail("the lock is not free: " + std::to_string(code));
    if (code == EOWNERDEAD && !died_inside_) return machine.fail("a death is reported that was not inside");
    if (code == 0 && first_ != second_) return machine.fail("the data is torn, and nobody says so");
    if (code == EOWNERDEAD) lock.mend();
    lock.unlock();
    Record* const record = lock.claim(case_.fenced);
    if (record == nullptr) return machine.fail("the records of the dead are taken");
    weft_rwlock_reader reader{reinterpret_cast<uint32_t*>(record)};
    if (weft_rwlock_step_in_(&reader) == 0 && lock.enter(*record, Protocol::kNow) != 0)
      machine.fail("readers are kept out");
  }

 private:
  static Exhaustive& machine() { return Exhaustive::running(); }

  void read() {
    Protocol lock(*layout_, kReaders);
    Record* const record = lock.claim(case_.fenced);
    if (record == nullptr) return machine().fail("no record");
    weft_rwlock_reader reader{reinterpret_cast<uint32_t*>(record)};
    for (int round = 0; round < case_.rounds; ++round) {
      if (weft_rwlock_step_in_(&reader) == 0) {
        const int code = lock.enter(*record, kForever);
        if (code == EOWNERDEAD) return;  // until somebody mends it
        if (code != 0) return machine().fail("a reader got " + std::to_string(code));
      }
      ++reading_;
      if (writing_ > 0 && !dead_writer()) machine().fail("a reader is in beside a writer");
      const uint64_t first = first_.load(std::memory_order_relaxed);
      const uint64_t second = second_.load(std::memory_order_relaxed);
      if (first != second) machine().fail("a reader sees half of what was written");
      if (case_.upgrades) {
        const int code = lock.lock(kForever);
        if (code != EDEADLK) return machine().fail("a reader that writes got " + std::to_string(code));
      }
      --reading_;
      leave(reader, lock, *record);
    }
    lock.leave(*record);
  }

  // As weft_rwlock_rdunlock(), whose calls out of line are the library's.
  static void leave(weft_rwlock_reader& reader, Protocol& lock, Record& record) {
    const uint32_t depth = __atomic_load_n(reader.record, __ATOMIC_RELAXED);
    __atomic_store_n(reader.record, depth & WEFT_RWLOCK_FENCED_, __ATOMIC_RELEASE);
    if (__atomic_load_n(reader.record + 1, __ATOMIC_RELAXED) != 0) lock.left(record);
  }

  void write() {
    Protocol lock(*layout_, kReaders);
    for (int round = 0; round < case_.rounds; ++round) {
      const int code = lock.lock(case_.tries ? Protocol::kNow : kForever);
      if (code == EBUSY && case_.tries) continue;
      if (code == EOWNERDEAD) {
        second_.store(first_.load(std::memory_order_relaxed), std::memory_order_relaxed);
        lock.mend();
      } else if (code != 0) {
        return machine().fail("a writer got " + std::to_string(code));
      }
      ++writing_;
      if (!anybody_dead() && (writing_ > 1 || reading_ > 0)) machine().fail("a writer is in beside somebody");
      const uint64_t first = first_.load(std::memory_order_relaxed);
      if (code == 0 && first != second_.load(std::memory_order_relaxed))
        machine().fail("a writer sees half of what was written");
      first_.store(first + 1, std::memory_order_relaxed);
      second_.store(first + 1, std::memory_order_relaxed);
      --writing_;
      lock.unlock();
    }
  }

  bool dead_writer() const { return machine().killed(10) || machine().killed(11); }
  bool anybody_dead() const { return dead_writer() || machine().killed(1) || machine().killed(2); }

  const Case case_;
  std::unique_ptr<char[]> memory_;
  Layout* layout_ = nullptr;
  std::atomic<uint64_t> first_{0};
  std::atomic<uint64_t> second_{0};
  int reading_ = 0;
  int writing_ = 0;
  bool died_inside_ = false;
};

// The violation, or nothing.
std::string explore(Case wanted, Options options) {
  Model model(wanted);
  // A reader that makes its fences itself may miss a writer that falls asleep: weft/rwlock.h.
  options.may_oversleep = wanted.fenced;
  const std::string what = "readers " + std::to_string(wanted.readers) + ", writers " + std::to_string(wanted.writers) +
                           (wanted.fair ? ", fair" : "") + (wanted.fenced ? ", portable" : "");
  return explore(what, model, options);
}

Options options_of(int deviations, int kills = 0) {
  Options options;
  options.deviations = deviations;
  options.kills = kills;
  options.most_executions = long_run() ? 2'000'000 : 400'000;
  return options;
}

class RwlockModel : public testing::TestWithParam<std::tuple<bool, bool>> {};
INSTANTIATE_TEST_SUITE_P(Modes, RwlockModel, testing::Combine(testing::Bool(), testing::Bool()));

TEST_P(RwlockModel, OneReaderAndOneWriter) {
  const auto [fair, fenced] = GetParam();
  EXPECT_EQ(explore({1, 1, fair, fenced}, options_of(3)), "");
  EXPECT_EQ(explore({1, 1, fair, fenced, 2}, options_of(2)), "");
}

TEST_P(RwlockModel, TwoReadersAndTwoWriters) {
  const auto [fair, fenced] = GetParam();
  EXPECT_EQ(explore({2, 1, fair, fenced}, options_of(2)), "");
  EXPECT_EQ(explore({1, 2, fair, fenced}, options_of(2)), "");
  EXPECT_EQ(explore({2, 2, fair, fenced}, options_of(1)), "");
}

TEST_P(RwlockModel, SomebodyIsKilledAnywhere) {
  const auto [fair, fenced] = GetParam();
  EXPECT_EQ(explore({1, 1, fair, fenced}, options_of(2, 1)), "");
  EXPECT_EQ(explore({1, 2, fair, fenced}, options_of(2, 1)), "");
  EXPECT_EQ(explore({2, 1, fair, fenced}, options_of(2, 1)), "");
}

TEST_P(RwlockModel, WritersThatTry) {
  const auto [fair, fenced] = GetParam();
  EXPECT_EQ(explore({1, 2, fair, fenced, 1, true}, options_of(2)), "");
}

TEST_P(RwlockModel, AReaderThatWantsToWriteIsToldSoBesideAWriterToo) {
  const auto [fair, fenced] = GetParam();
  EXPECT_EQ(explore({1, 1, fair, fenced, 1, false, true}, options_of(2)), "");
}

// What the checker must find: a protocol on a machine that does less than it promises.
class RwlockMutation : public testing::Test {
 protected:
  ~RwlockMutation() override { g_mutation = {}; }
};

TEST_F(RwlockMutation, AHeavyFenceThatDoesNothingIsFound) {
  g_mutation.no_heavy_fence = true;
  EXPECT_NE(explore({1, 1, false, false, 2}, options_of(3)), "");
}

TEST_F(RwlockMutation, FencesThatDoNothingAreFound) {
  g_mutation.no_full_fence = true;
  EXPECT_NE(explore({1, 1, false, false, 2}, options_of(3)), "");
}

TEST_F(RwlockMutation, WakeUpsThatAreLostAreFound) {
  g_mutation.no_wake = true;
  EXPECT_NE(explore({1, 1, false, false}, options_of(2)), "");
}

TEST_F(RwlockMutation, DeathsThatNobodyMarksAreFound) {
  g_mutation.no_death_mark = true;
  EXPECT_NE(explore({1, 1, false, false}, options_of(2, 1)), "");
}

}  // namespace

}  // namespace weft::explore
