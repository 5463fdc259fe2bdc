// SPDX-License-Identifier: Apache-2.0
// The process's part of the node's slots: which carriers have one, which may run without, and that none is lost when
// the budget changes under them. The pool is the test's own, and so is the monitor's part, which the test does itself.
#include "core/sched/node_budget.h"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "../await.h"
#include "../keep.h"
#include "core/sched/admission.h"
#include "core/sched/polling.h"
#include "core/sched/pool.h"
#include "core/sched/roots.h"
#include "node/process.h"
#include "node/segment.h"

// The linker puts it in the place of the node's own (--wrap): a node of the test's.
weft::node::Path path_of_test() noexcept asm("__wrap__ZN4weft4node12default_pathEv");
weft::node::Path path_of_test() noexcept {
  weft::node::Path path;
  std::snprintf(path.text, sizeof path.text, "/dev/shm/weft-budget-test-%d", static_cast<int>(getpid()));
  return path;
}

// For LeakSanitizer: a budget that has left its node never frees it, since others may still use it.
extern "C" const char* __lsan_default_suppressions() { return "leak:weft::core::NodeBudget::join"; }

namespace {

using namespace weft::core;
using weft::node::Process;

constexpr int kSlots = 4;

class NodeBudgetTest : public testing::Test {
 protected:
  // A root and as many workers as there are slots but one. `others`: the same node, by another process.
  void set_up(int slots = kSlots) {
    weft::platform::CpuSet cpus;
    for (int i = 0; i < slots; ++i) cpus.add(i);
    unlink(path_of_test().text);
    pool_ = keep(new Pool({.slots = slots, .node = {.on = true, .cpus = cpus}}));
    g_pool = pool_;
    root_ = add(-1);
    for (int i = 0; i < slots - 1; ++i) workers_.push_back(add(i));
    budget().join(pool_->settings);
    weft::node::Reason reason;
    other_ = keep(Process::join(path_of_test().text, {.most = slots, .cpus = cpus}, reason));
    ASSERT_NE(other_, nullptr) << reason.text;
  }
  void TearDown() override {
    if (pool_ == nullptr) return;
    if (other_ != nullptr) other_->leave();
    leave();
    unlink(path_of_test().text);
  }

  NodeBudget& budget() { return pool_->node; }
  Pool& pool() { return *pool_; }
  uint32_t gate() const { return pool_->gate.load(); }

  std::vector<int> take_all() {
    std::vector<int> slots;
    for (int slot = other_->take(); slot >= 0; slot = other_->take()) slots.push_back(slot);
    return slots;
  }
  void give(const std::vector<int>& slots) {
    for (const int slot : slots) other_->give(slot);
  }
  // All workers and the root.
  void take_all_ourselves() {
    root_->holds_slot = true;
    budget().root_begins(root_);
    for (Carrier* worker : workers_) ASSERT_TRUE(budget().get_up(pool(), worker));
    for (Carrier* worker : workers_) ASSERT_GE(worker->slot.load(), 0);
    ASSERT_GE(root_->slot.load(), 0);
  }

  void leave() {
    std::atomic<bool> left{false};
    std::thread ends([&] {
      budget().leave();
      left = true;
    });
    await([&] { return budget().leave_if_asked(pool()) || left.load(); });
    ends.join();
  }

  Carrier* root_ = nullptr;
  std::vector<Carrier*> workers_;
  Process* other_ = nullptr;

 private:
  Carrier* add(int worker) {
    const int index = pool_->carrier_count.load();
    auto* carrier = keep(new Carrier(index, worker));
    pool_->carriers.put(index, carrier);
    if (worker >= 0) {
      pool_->workers.put(worker, carrier);
      pool_->worker_count = worker + 1;
    }
    pool_->carrier_count = index + 1;
    return carrier;
  }

  Pool* pool_ = nullptr;
};

TEST_F(NodeBudgetTest, ProcessThatRunsAloneAsksNobody) {
  const auto pool = std::make_unique<Pool>(Settings{.slots = 2});
  Carrier worker(0, 0);
  NodeBudget& budget = pool->node;
  budget.join(pool->settings);
  EXPECT_TRUE(budget.get_up(*pool, &worker));
  EXPECT_EQ(worker.slot.load(), Slot::none);
  EXPECT_FALSE(budget.lie_down(&worker));
  EXPECT_TRUE(budget.admitted(*pool, &worker));
  EXPECT_EQ(budget.usable(5), 5);
  EXPECT_EQ(budget.carriers_for_guests(3, 2), 0);
  EXPECT_FALSE(budget.has_too_many());
  EXPECT_FALSE(budget.waiting(*pool));
  EXPECT_TRUE(budget.enter_queue(budget.draw_ticket(), 10, false));
  budget.tick(*pool);
  EXPECT_FALSE(budget.leave_if_asked(*pool));
  budget.leave();
}

TEST_F(NodeBudgetTest, EachCarrierHasOneSlotFromGettingUpToLyingDown) {
  set_up();
  take_all_ourselves();
  EXPECT_TRUE(take_all().empty());
  const int slot = workers_[0]->slot.load();
  EXPECT_TRUE(budget().get_up(pool(), workers_[0]));
  EXPECT_EQ(workers_[0]->slot.load(), slot) << "it has one already";
  EXPECT_TRUE(budget().lie_down(workers_[0]));
  EXPECT_EQ(workers_[0]->slot.load(), Slot::none);
  EXPECT_TRUE(budget().lie_down(workers_[0])) << "for the second time, to no effect";
  EXPECT_EQ(take_all(), std::vector<int>{slot});
}

TEST_F(NodeBudgetTest, WorkerWithoutSlotClosesTheGateAndARootRunsAnyway) {
  set_up();
  const std::vector<int> taken = take_all();
  ASSERT_EQ(taken.size(), size_t{kSlots});
  EXPECT_FALSE(budget().get_up(pool(), workers_[0]));
  EXPECT_NE(gate() & Gate::closed, 0u);
  EXPECT_FALSE(budget().admitted(pool(), workers_[1])) << "it would not get one either";
  EXPECT_TRUE(budget().waiting(pool()));
  EXPECT_TRUE(budget().get_up(pool(), root_));
  EXPECT_EQ(root_->slot.load(), Slot::none);
  EXPECT_TRUE(budget().admitted(pool(), root_));
  // The monitor finds that nobody misses any.
  give(taken);
  budget().tick(pool());
  EXPECT_EQ(gate() & Gate::closed, 0u);
  EXPECT_FALSE(budget().waiting(pool()));
  EXPECT_TRUE(budget().get_up(pool(), workers_[0]));
  EXPECT_GE(workers_[0]->slot.load(), 0);
}

TEST_F(NodeBudgetTest, WhoHasTooManyGivesThemBack) {
  set_up();
  take_all_ourselves();
  EXPECT_EQ(budget().usable(kSlots), kSlots);
  other_->want(kSlots);
  budget().look(pool());
  EXPECT_EQ(gate(), uint32_t{Gate::pressed} | Gate::over);
  EXPECT_TRUE(budget().has_too_many());
  EXPECT_TRUE(budget().owes_cpu(pool()));
  EXPECT_EQ(budget().usable(kSlots), kSlots / 2);
  EXPECT_FALSE(budget().admitted(pool(), workers_[2]));
  EXPECT_TRUE(budget().admitted(pool(), root_));
  budget().lie_down(workers_[2]);
  EXPECT_TRUE(budget().has_too_many());
  budget().lie_down(workers_[1]);
  EXPECT_FALSE(budget().has_too_many());
  budget().look(pool());
  EXPECT_EQ(gate(), uint32_t{Gate::pressed});
  EXPECT_TRUE(budget().admitted(pool(), workers_[0]));
  EXPECT_FALSE(budget().get_up(pool(), workers_[1])) << "the others are not its";
  const std::vector<int> taken = take_all();
  EXPECT_EQ(taken.size(), size_t{kSlots / 2});
  other_->want(0);
  give(taken);
  budget().tick(pool());
  EXPECT_EQ(gate(), 0u);
  EXPECT_TRUE(budget().get_up(pool(), workers_[1]));
}

TEST_F(NodeBudgetTest, SlotThatIsTakenAwayIsNoticed) {
  set_up();
  take_all_ourselves();
  other_->want(2);
  std::vector<int> taken;
  for (int slot = other_->take_away(); slot >= 0; slot = other_->take_away()) taken.push_back(slot);
  ASSERT_EQ(taken.size(), 2u);
  budget().tick(pool());
  int lost = 0;
  for (Carrier* worker : workers_) {
    if (worker->slot.load() != Slot::taken) continue;
    ++lost;
    EXPECT_NE(gate() & Gate::taken, 0u);
    EXPECT_FALSE(budget().admitted(pool(), worker));
    EXPECT_FALSE(budget().get_up(pool(), worker));
    EXPECT_EQ(worker->slot.load(), Slot::none) << "it has noticed";
  }
  EXPECT_EQ(lost + (root_->slot.load() < 0 ? 1 : 0), 2);
  // The others have theirs, and nobody's is given twice.
  EXPECT_EQ(other_->held(), 2);
  other_->want(0);
  give(taken);
  budget().tick(pool());
  EXPECT_EQ(gate() & Gate::taken, 0u);
  // What has been lost is not counted as held any more: all can be had again.
  budget().root_ends(root_);
  take_all_ourselves();
}

TEST_F(NodeBudgetTest, SlotOfACarrierThatSleepsGoesBack) {
  set_up();
  ASSERT_TRUE(budget().get_up(pool(), workers_[0]));
  // It was passed on when the carrier had just lain down.
  workers_[0]->wake = Wake::sleeping;
  budget().tick(pool());
  EXPECT_EQ(workers_[0]->slot.load(), Slot::none);
  EXPECT_EQ(take_all().size(), size_t{kSlots});
}

// A root goes on anyway: it has a worker's slot, and the worker stops.
TEST_F(NodeBudgetTest, RootTakesAWorkersSlot) {
  set_up();
  for (Carrier* worker : workers_) ASSERT_TRUE(budget().get_up(pool(), worker));
  other_->want(kSlots);
  EXPECT_EQ(take_all().size(), 1u);
  budget().look(pool());
  root_->holds_slot = true;
  budget().root_begins(root_);
  EXPECT_GE(root_->slot.load(), 0);
  int stopped = 0;
  for (Carrier* worker : workers_) stopped += worker->slot.load() == Slot::taken ? 1 : 0;
  EXPECT_EQ(stopped, 1);
  EXPECT_NE(gate() & Gate::taken, 0u);
}

TEST_F(NodeBudgetTest, LentThreadsRunWithoutASlotUntilThereIsOne) {
  set_up();
  const std::vector<int> taken = take_all();
  pool().lent = 1;
  EXPECT_TRUE(budget().get_up(pool(), workers_[0]));
  EXPECT_EQ(workers_[0]->slot.load(), Slot::lent);
  EXPECT_TRUE(budget().admitted(pool(), workers_[0]));
  EXPECT_FALSE(budget().get_up(pool(), workers_[1])) << "one has been lent";
  pool().lent = 0;
  EXPECT_FALSE(budget().admitted(pool(), workers_[0])) << "it has been taken back";
  pool().lent = 1;
  // With the permit goes the right to another one.
  budget().lie_down(workers_[0]);
  EXPECT_TRUE(budget().get_up(pool(), workers_[1]));
  EXPECT_EQ(workers_[1]->slot.load(), Slot::lent);
  other_->give(taken.back());
  budget().tick(pool());
  EXPECT_EQ(workers_[1]->slot.load(), taken.back()) << "those that run anyway come first";
  EXPECT_TRUE(budget().get_up(pool(), workers_[2]));
  EXPECT_EQ(workers_[2]->slot.load(), Slot::lent) << "it was free again";
}

TEST_F(NodeBudgetTest, SlotThatOthersGiveIsPassedOnToARootThatRuns) {
  set_up();
  const std::vector<int> taken = take_all();
  root_->holds_slot = true;
  budget().root_begins(root_);
  EXPECT_EQ(root_->slot.load(), Slot::none);
  EXPECT_FALSE(budget().waiting(pool())) << "the monitor has not looked";
  budget().tick(pool());
  EXPECT_TRUE(budget().waiting(pool()));
  // It rings, and the monitor's rest ends.
  std::thread giver([&] { give({taken.back()}); });
  EXPECT_TRUE(await([&] {
    budget().rest(pool(), 1'000'000);
    return root_->slot.load() >= 0;
  }));
  giver.join();
  EXPECT_FALSE(budget().waiting(pool()));
  budget().root_ends(root_);
  EXPECT_EQ(root_->slot.load(), Slot::none);
}

// One CPU for two: one of the processes is due nothing until the other has had its turn, or leaves.
class NodeTurnsTest : public NodeBudgetTest {
 protected:
  void wait_for_others_turn() {
    ASSERT_EQ(take_all().size(), 1u);
    root_->holds_slot = true;
    budget().root_begins(root_);
    other_->want(1);
    budget().tick(pool());
    ASSERT_TRUE(await([&] {
      budget().look(pool());
      if (is_others_turn()) return true;
      other_->want(1);
      return false;
    }));
  }
  static bool is_others_turn() { return (g_turnstile.load() & Turnstile::others_turn) != 0; }
};

TEST_F(NodeTurnsTest, RootWaitsUntilTheOtherLeaves) {
  set_up(1);
  wait_for_others_turn();
  std::atomic<bool> over{false};
  std::thread root([&] {
    budget().await_turn(pool(), root_);
    over = true;
  });
  other_->leave();
  other_ = nullptr;
  EXPECT_TRUE(await([&] {
    budget().tick(pool());
    return over.load();
  }));
  root.join();
  EXPECT_GE(root_->slot.load(), 0);
  EXPECT_FALSE(is_others_turn());
}

// The other neither leaves nor gives. Nobody looks, either.
// A rank that waits for another one by MPI, which yields: the other can only come if it gets the CPU.
TEST_F(NodeTurnsTest, RootThatYieldsBetweenRegionsGivesItsSlotWhereItIsMissed) {
  set_up(1);
  root_->holds_slot = true;
  pool().active_roots = 1;
  budget().root_begins(root_);
  ASSERT_GE(root_->slot.load(), 0);
  const auto yield_for_long = [&] {
    for (int i = 0; i < 1000; ++i) note_yield_of(root_);
  };
  yield_for_long();
  EXPECT_GE(root_->slot.load(), 0) << "nobody misses it";
  other_->want(1);
  root_->regions_open = 1;
  yield_for_long();
  EXPECT_GE(root_->slot.load(), 0) << "it is in a region";
  root_->regions_open = 0;
  for (uint32_t region = 1; region < 100; ++region) {
    root_->regions_seen = region;
    note_yield_of(root_);
  }
  EXPECT_GE(root_->slot.load(), 0) << "a yield after each region is no wait";
  yield_for_long();
  EXPECT_EQ(root_->slot.load(), Slot::none);
  EXPECT_FALSE(root_->holds_slot.load());
  EXPECT_EQ(pool().active_roots.load(), 0);
  other_->want(1);
  EXPECT_EQ(take_all().size(), 1u);
}

TEST_F(NodeTurnsTest, RootGoesOnWithoutWhereItsTurnDoesNotCome) {
  set_up(1);
  wait_for_others_turn();
  budget().await_turn(pool(), root_);
  EXPECT_LT(root_->slot.load(), 0);
}

// Many wait, and the turn comes: nobody is left behind.
TEST_F(NodeTurnsTest, AllWhoWaitGoOn) {
  set_up(1);
  wait_for_others_turn();
  constexpr int kRoots = 4;
  std::array<std::unique_ptr<Carrier>, kRoots> carriers;
  std::atomic<int> over{0};
  std::vector<std::thread> roots;
  for (auto& carrier : carriers) {
    carrier = std::make_unique<Carrier>(kMaxCarriers, -1);
    roots.emplace_back([&over, &carrier, this] {
      budget().await_turn(pool(), carrier.get());
      ++over;
    });
  }
  other_->leave();
  other_ = nullptr;
  EXPECT_TRUE(await([&] {
    budget().tick(pool());
    return over.load() == kRoots;
  }));
  for (std::thread& root : roots) root.join();
  int have = 0;
  for (const auto& carrier : carriers) have += carrier->slot.load() >= 0 ? 1 : 0;
  EXPECT_LE(have, 1) << "there is one slot";
  for (const auto& carrier : carriers) budget().lie_down(carrier.get());
}

TEST_F(NodeBudgetTest, OthersSeeWhatServicesWaitFor) {
  set_up();
  weft::node::Reason reason;
  using weft::node::Segment;
  const std::unique_ptr<Segment> segment(Segment::open(path_of_test().text, Segment::Missing::leave, reason));
  ASSERT_NE(segment, nullptr) << reason.text;
  const weft::node::Record& record = segment->layout().records[0];
  int left = 3;
  const auto service = [](void* data) { return *static_cast<int*>(data); };
  ASSERT_EQ(register_polling_service(service, &left, PollingAnswer::left), 0);
  poll_soon();
  poll();
  budget().tick(pool());
  EXPECT_EQ(record.pending.load(), 3u);
  EXPECT_TRUE(await([&] {
    budget().tick(pool());
    return record.silent_ns.load() > 1'000'000;
  }));
  left = 0;
  poll();
  // The monitor ticks no more.
  budget().tell_pending();
  EXPECT_EQ(record.pending.load(), 0u);
  EXPECT_EQ(record.silent_ns.load(), 0u);
  EXPECT_EQ(unregister_polling_service(service, &left), 0);
}

TEST_F(NodeBudgetTest, WhoLeavesGivesAllBackAndRunsAlone) {
  set_up();
  take_all_ourselves();
  other_->want(2);
  budget().look(pool());
  EXPECT_NE(gate(), 0u);
  leave();
  EXPECT_EQ(gate(), 0u);
  EXPECT_TRUE(budget().admitted(pool(), workers_[0]));
  EXPECT_FALSE(budget().lie_down(workers_[0])) << "there is nothing to give up";
  EXPECT_FALSE(budget().leave_if_asked(pool())) << "it has left";
  other_->want(0);
  EXPECT_EQ(take_all().size(), size_t{kSlots});
}

// The monitor does not come: who ends the process does not wait for it for ever.
TEST_F(NodeBudgetTest, WhoLeavesDoesNotWaitForEver) {
  set_up();
  budget().leave();
  EXPECT_TRUE(budget().leave_if_asked(pool()));
}

// Carriers that get up and lie down, a monitor that ticks, a process that takes and gives, roots that come and go,
// threads that are lent and taken back: in the end all slots are there, and all permits.
TEST_F(NodeBudgetTest, NothingIsLostWhereTheBudgetChangesUnderTheCarriers) {
  set_up();
  std::atomic<bool> over{false};
  std::atomic<int> too_many{0};
  std::atomic<long> ups{0};
  std::vector<std::thread> threads;
  for (Carrier* worker : workers_) {
    threads.emplace_back([&, worker] {
      for (int round = 0; !over.load(); ++round) {
        if (budget().get_up(pool(), worker)) {
          ++ups;
          if (round % 3 == 0) std::this_thread::yield();
          // As carriers do between two pieces of work.
          if (!budget().admitted(pool(), worker)) std::this_thread::yield();
        }
        budget().lie_down(worker);
        pool().idle.add(worker->index);
        if (round % 5 == 0) std::this_thread::yield();
        pool().idle.remove(worker->index);
      }
    });
  }
  threads.emplace_back([&] {
    while (!over.load()) {
      root_->holds_slot = true;
      budget().root_begins(root_);
      std::this_thread::yield();
      root_->holds_slot = false;
      budget().root_ends(root_);
    }
  });
  threads.emplace_back([&] {
    for (int round = 0; !over.load(); ++round) {
      other_->want(round % (kSlots + 1));
      std::vector<int> taken = take_all();
      if (const int slot = round % 7 == 0 ? other_->take_away() : -1; slot >= 0) taken.push_back(slot);
      if (other_->held() > kSlots) ++too_many;
      std::this_thread::yield();
      give(taken);
    }
    other_->want(0);
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1000);
  for (int round = 0; std::chrono::steady_clock::now() < end; ++round) {
    pool().lent = round / 4 % 3;
    budget().tick(pool());
    budget().rest(pool(), 200'000);
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(ups.load(), 0);
  EXPECT_EQ(too_many.load(), 0);
  // What was passed on to one that had just lain down.
  for (Carrier* worker : workers_) budget().lie_down(worker);
  budget().lie_down(root_);
  pool().lent = 0;
  budget().tick(pool());
  EXPECT_FALSE(budget().waiting(pool()));
  const std::vector<int> taken = take_all();
  EXPECT_EQ(taken.size(), size_t{kSlots});
  // As many permits as are lent.
  pool().lent = 2;
  EXPECT_TRUE(budget().get_up(pool(), workers_[0]));
  EXPECT_TRUE(budget().get_up(pool(), workers_[1]));
  EXPECT_FALSE(budget().get_up(pool(), workers_[2]));
}

}  // namespace
