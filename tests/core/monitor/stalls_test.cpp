// SPDX-License-Identifier: Apache-2.0
// What the monitor takes for a stall, and what it does then: tick by tick, in a pool of the test's own whose carriers
// nobody runs.
#include "core/monitor/stalls.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../keep.h"
#include "core/sched/pool.h"
#include "platform/cycles.h"
#include "platform/futex.h"
#include "platform/thread_state.h"

namespace {

using namespace weft::core;

constexpr int kSlots = 2;
constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kLongest = 5000 * kMillisecond;

// A thread that sits in the kernel until the end.
class Sleeper {
 public:
  Sleeper() {
    thread_ = std::thread([this] {
      id_ = static_cast<pid_t>(syscall(SYS_gettid));
      while (over_.load() == 0) weft::platform::futex_wait(over_, 0);
    });
    while (weft::platform::thread_state(id_.load()) != weft::platform::ThreadState::sleeping || id_.load() == 0) {
      std::this_thread::yield();
    }
  }
  ~Sleeper() {
    over_ = 1;
    weft::platform::futex_wake(over_, 1);
    thread_.join();
  }
  pid_t id() const { return id_.load(); }

 private:
  std::atomic<pid_t> id_{0};
  std::atomic<uint32_t> over_{0};
  std::thread thread_;
};

class StallsTest : public testing::Test {
 protected:
  explicit StallsTest(int slots = kSlots)
      : pool_(*keep(new Pool({.slots = slots}))), stalls_(*keep(new Stalls(pool_))) {}
  void SetUp() override {
    if (g_pool.load() != nullptr) GTEST_SKIP() << "another test of this process has started a pool";
    g_pool = &pool_;
    root_ = add(-1);
    for (Carrier*& worker : workers_) worker = add(pool_.worker_count.load());
    root_->holds_slot = true;
    root_->regions_open = 1;
    pool_.active_roots = 1;
  }
  void TearDown() override {
    if (g_pool.load() == &pool_) g_pool = nullptr;
  }

  // Somebody comes for work.
  void make_idle(Carrier* worker) { pool_.idle.add(worker->index); }
  void sleeps_in_kernel(Carrier* carrier) { carrier->thread_id = sleeper_.id(); }
  static void runs(Carrier* carrier) { carrier->thread_id = static_cast<pid_t>(syscall(SYS_gettid)); }

  // Workers that nobody needs as long as nothing is lent: without them the monitor would make some.
  void add_idle_workers(int count) {
    for (int i = 0; i < count; ++i) make_idle(add(pool_.worker_count.load()));
  }

  void offer(ParallelCall& call, uint32_t next, uint32_t end) {
    call.claim = next | (uint64_t{end} << 32);
    root_->open[0] = &call;
    root_->open_top = 1;
  }
  // Root and worker sleep beside a call that waits; another worker would come if a thread were lent.
  void let_all_sleep(ParallelCall& call) {
    sleeps_in_kernel(root_);
    sleeps_in_kernel(workers_[0]);
    make_idle(workers_[1]);
    offer(call, 1, 2);
  }
  void tick(int times = 1) {
    for (int i = 0; i < times; ++i) stalls_.tick();
  }

  Pool& pool_;
  Stalls& stalls_;
  Carrier* root_ = nullptr;
  // The second may run only where a thread has been lent.
  std::array<Carrier*, 2> workers_{};

  // Ticks while the process computes for so long, or until `over`; how long that has taken.
  template <class Over>
  int64_t compute(int64_t cpu_ns, Over over) {
    const int64_t begin = weft::platform::cpu_time_ns();
    while (weft::platform::cpu_time_ns() - begin < cpu_ns && !over()) {
      const int64_t soon = weft::platform::cpu_time_ns() + kMillisecond;
      while (weft::platform::cpu_time_ns() < soon) continue;
      tick();
    }
    return weft::platform::cpu_time_ns() - begin;
  }
  void compute(int64_t cpu_ns) {
    compute(cpu_ns, [] { return false; });
  }

  Carrier* add(int worker) {
    const int index = pool_.carrier_count.load();
    auto* carrier = keep(new Carrier(index, worker));
    pool_.carriers.put(index, carrier);
    if (worker >= 0) {
      pool_.workers.put(worker, carrier);
      pool_.worker_count = worker + 1;
    }
    pool_.carrier_count = index + 1;
    return carrier;
  }

 private:
  Sleeper sleeper_;
};

TEST_F(StallsTest, ReadyListIsStuckWhereNobodyTakesForAWholeTick) {
  make_idle(workers_[0]);
  Context first;
  Context second;
  workers_[0]->ready.push(&first, &first, 1);
  tick();
  EXPECT_FALSE(workers_[0]->stuck.load()) << "it may have come just now";
  tick();
  EXPECT_TRUE(workers_[0]->stuck.load());
  // One goes and another comes: somebody takes from there.
  EXPECT_EQ(workers_[0]->ready.pop(nullptr), &first);
  workers_[0]->ready.push(&second, &second, 1);
  tick();
  EXPECT_FALSE(workers_[0]->stuck.load());
  tick();
  EXPECT_TRUE(workers_[0]->stuck.load());
  EXPECT_EQ(workers_[0]->ready.pop(nullptr), &second);
  tick();
  EXPECT_FALSE(workers_[0]->stuck.load());
}

TEST_F(StallsTest, WorkerIsLateAfterManyTicksOrAtOnceWhereItMayNotRun) {
  make_idle(workers_[0]);
  Context stub;
  workers_[0]->bodiless_ready = &stub;
  tick(10);
  EXPECT_FALSE(workers_[0]->late.load()) << "its thread may take a while to come";
  pool_.active_roots = kSlots;
  ASSERT_FALSE(pool_.allowed(workers_[0]));
  tick();
  EXPECT_TRUE(workers_[0]->late.load());
  pool_.active_roots = 1;
  workers_[0]->bodiless_ready = nullptr;
  tick();
  EXPECT_FALSE(workers_[0]->late.load());
  workers_[0]->bodiless_ready = &stub;
  tick(100);
  EXPECT_TRUE(workers_[0]->late.load());
}

TEST_F(StallsTest, RootThatSitsInTheKernelIsAbandoned) {
  make_idle(workers_[0]);
  Context context;
  root_->root_ready = &context;
  tick(2);
  sleeps_in_kernel(root_);
  tick();
  EXPECT_TRUE(root_->abandoned.load());
  // It has switched since: it lives.
  root_->statistics.switches.add();
  tick();
  EXPECT_FALSE(root_->abandoned.load());
  tick();
  EXPECT_TRUE(root_->abandoned.load());
  root_->root_ready = nullptr;
  tick();
  EXPECT_FALSE(root_->abandoned.load());
}

TEST_F(StallsTest, ThreadIsLentForOneThatSleepsAndTakenBackWhenAllIsCalm) {
  ParallelCall call;
  let_all_sleep(call);
  tick(2);
  EXPECT_EQ(pool_.lent.load(), 0) << "one look may meet a thread that waits for a page";
  tick();
  EXPECT_EQ(pool_.lent.load(), 1) << "as many as there are calls that wait";
  EXPECT_TRUE(pool_.allowed(workers_[1]));
  EXPECT_FALSE(pool_.is_idle(workers_[1])) << "it has been called";
  EXPECT_EQ(pool_.compensations.load(), 1u);
  // Somebody has claimed it.
  call.claim.fetch_add(1);
  tick(99);
  EXPECT_EQ(pool_.lent.load(), 1) << "it stays for a while";
  tick();
  EXPECT_EQ(pool_.lent.load(), 0);
}

TEST_F(StallsTest, ThreadForASleeperGoesBackWhereAllRunAgain) {
  ParallelCall call;
  let_all_sleep(call);
  tick(3);
  ASSERT_EQ(pool_.lent.load(), 1);
  // The call waits still: for a thread that has a CPU as well as for one that sleeps.
  runs(root_);
  runs(workers_[0]);
  tick(19);
  EXPECT_EQ(pool_.lent.load(), 1) << "they may fall asleep again";
  tick();
  EXPECT_EQ(pool_.lent.load(), 0);
}

TEST_F(StallsTest, ThreadIsLentForALongSleepAlsoWhereAllCpusAreBusy) {
  ParallelCall call;
  // Three roots, of which two run.
  runs(root_);
  for (int i = 0; i < 2; ++i) {
    Carrier* another = add(-1);
    another->holds_slot = true;
    another->regions_open = 1;
    i == 0 ? runs(another) : sleeps_in_kernel(another);
  }
  pool_.active_roots = 3;
  offer(call, 1, 2);
  tick(9);
  EXPECT_EQ(pool_.lent.load(), 0) << "the others may hold what it sleeps for";
  tick(5);
  EXPECT_EQ(pool_.lent.load(), 1) << "they do no work of its";
}

TEST_F(StallsTest, NothingIsLentWhereCallsAreClaimed) {
  ParallelCall call;
  sleeps_in_kernel(root_);
  sleeps_in_kernel(workers_[0]);
  for (uint32_t next = 1; next < 20; ++next) {
    offer(call, next, 100);
    tick();
  }
  EXPECT_EQ(pool_.lent.load(), 0);
}

TEST_F(StallsTest, NothingIsLentWhereAWorkerComesAnyway) {
  ParallelCall call;
  sleeps_in_kernel(root_);
  offer(call, 1, 4);
  for (int i = 0; i < 10; ++i) {
    // It has been called each time.
    make_idle(workers_[0]);
    tick();
  }
  EXPECT_EQ(pool_.lent.load(), 0);
  EXPECT_FALSE(pool_.is_idle(workers_[0]));
}

TEST_F(StallsTest, LoanWithoutEvidenceEndsWhenMembersHaveComputed) {
  add_idle_workers(20);
  make_idle(workers_[1]);
  static int function;
  ParallelCall call;
  call.function = &function;
  call.root = root_;
  offer(call, 1, 20);
  const int64_t patience = compute(kLongest, [this] { return pool_.lent.load() > 0; });
  EXPECT_EQ(pool_.lent.load(), 1) << "they may wait for the others";
  compute(100 * kMillisecond);
  // By itself, long after the loan.
  root_->statistics.ends.add();
  compute(kLongest, [this] { return pool_.lent.load() == 0; });
  EXPECT_EQ(pool_.lent.load(), 0) << "they compute";
  compute(patience + patience / 4);
  EXPECT_EQ(pool_.lent.load(), 0) << "they did so before";
}

class ManyCpusTest : public StallsTest {
 protected:
  static constexpr int kManySlots = 192;
  ManyCpusTest() : StallsTest(kManySlots) {}
  void SetUp() override {
    StallsTest::SetUp();
    if (IsSkipped()) return;
    while (pool_.worker_count.load() < kManySlots - 1) add(pool_.worker_count.load());
    for (int i = 0; i < kManySlots; ++i) sleeps_in_kernel(pool_.carrier(i));
    add_idle_workers(kManySlots);
  }
};

TEST_F(ManyCpusTest, SystemIsAskedAboutAFewPerTick) {
  ParallelCall call;
  offer(call, 1, 4000);
  // The first sees that calls wait, the next that carriers sleep.
  tick(3);
  EXPECT_EQ(pool_.lent.load(), 2 * Stalls::kMostAsked);
}

// What waits is claimed all the time: nobody has to be asked, nor lent.
TEST_F(ManyCpusTest, NothingIsLentWhereCarriersTakeWork) {
  ParallelCall call;
  for (uint32_t next = 1; next < 100; ++next) {
    offer(call, next, 4000);
    tick();
  }
  EXPECT_EQ(pool_.lent.load(), 0);
}

}  // namespace
