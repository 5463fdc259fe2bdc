// SPDX-License-Identifier: Apache-2.0
// The interface as clients call it, with and without a pool that wants CPUs too.
#include "tcm/permits.h"

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/budget/guest_link.h"
#include "tcm/abi.h"

using namespace weft;
using tcm::Grant;
using tcm::Permit;
using tcm::Request;
using tcm::Result;
using tcm::State;

extern "C" {
Result tcmConnect(tcm::Callback, uint64_t*);
Result tcmDisconnect(uint64_t);
Result tcmRequestPermit(uint64_t, Request, void*, Permit**, Grant*);
Result tcmGetPermitData(Permit*, Grant*);
Result tcmReleasePermit(Permit*);
Result tcmIdlePermit(Permit*);
Result tcmDeactivatePermit(Permit*);
Result tcmActivatePermit(Permit*);
Result tcmRegisterThread(Permit*);
Result tcmUnregisterThread();
Result tcmGetVersionInfo(char*, uint32_t);
unsigned tcmGetVersion();
const void* weft_guest_link(const void*);
}

namespace {

// The end of the link that the runtime has as a rule, so that a test says what the pool does.
std::atomic<int> g_cpus{8};
std::atomic<int> g_held{0};
core::GuestLoad g_load;
core::PoolSide g_side{
    .layout = core::kGuestLayout,
    .start = [] {},
    .cpus = [] { return g_cpus.load(); },
    .welcome = [] { return true; },
    .statistics = [] { return false; },
    .roots_at_work = [] { return g_load.roots > 0; },
    .load = [] { return g_load; },
    .hold = [](int slots, int) { g_held = slots; },
    .forget = [] { g_held = 0; },
    .set_part = [](core::GuestPart) {},
};

const core::GuestSide* guest_side() { return static_cast<const core::GuestSide*>(weft_guest_link(&g_side)); }

// What a client has heard of, by the argument of the callback.
std::mutex g_mutex;
std::map<void*, int> g_heard;

uint32_t granted(Permit* permit) {
  uint32_t number = 77;
  Grant grant{.concurrencies = &number, .masks = nullptr, .size = 1, .state = State::none, .flags = {}};
  EXPECT_EQ(tcmGetPermitData(permit, &grant), Result::success);
  EXPECT_EQ(grant.flags.stale, 0u);
  return grant.state == State::inactive ? 0 : number;
}

State state(Permit* permit) {
  Grant grant{.concurrencies = nullptr, .masks = nullptr, .size = 0, .state = State::none, .flags = {}};
  EXPECT_EQ(tcmGetPermitData(permit, &grant), Result::success);
  return grant.state;
}

Result hear(Permit* permit, void* argument, tcm::CallbackFlags) {
  const int now = static_cast<int>(granted(permit));
  const std::lock_guard lock(g_mutex);
  g_heard[argument] = now;
  return Result::success;
}

class PermitsTest : public testing::Test {
 protected:
  void SetUp() override {
    g_cpus = 8;
    g_load = {};
    g_heard.clear();
    ASSERT_NE(guest_side(), nullptr);
    tick(4);  // what the pool of another test wanted
    ASSERT_EQ(tcmConnect(hear, &client_), Result::success);
  }
  void TearDown() override {
    for (Permit* permit : permits_) EXPECT_EQ(tcmReleasePermit(permit), Result::success);
    EXPECT_EQ(tcmDisconnect(client_), Result::success);
    tick(3);
    EXPECT_EQ(g_held, 0) << "slots are held for nobody";
  }

  Permit* make() {
    Permit* permit = nullptr;
    Request request;
    request.flags.inactive = 1;
    EXPECT_EQ(tcmRequestPermit(client_, request, key(permits_.size()), &permit, nullptr), Result::success);
    EXPECT_EQ(granted(permit), 0u);
    permits_.push_back(permit);
    return permit;
  }

  void ask(Permit*& permit, int most, int least = 0, bool rigid = false) {
    Request request{.least = least, .most = most};
    request.flags.rigid = rigid ? 1 : 0;
    size_t index = 0;
    while (permits_[index] != permit) ++index;
    EXPECT_EQ(tcmRequestPermit(client_, request, key(index), &permit, nullptr), Result::success);
  }

  // -1: it has not been called.
  int heard(size_t index) {
    const std::lock_guard lock(g_mutex);
    const auto found = g_heard.find(key(index));
    return found != g_heard.end() ? found->second : -1;
  }

  static void* key(size_t index) { return reinterpret_cast<void*>(index + 1); }
  static void tick(int times) {
    for (int i = 0; i < times; ++i) guest_side()->tick(g_load);
  }

  uint64_t client_ = 0;
  std::vector<Permit*> permits_;
};

TEST_F(PermitsTest, TheCallerIsNotCountedButRuns) {
  Permit* permit = make();
  ask(permit, 7);
  EXPECT_EQ(granted(permit), 7u);
  EXPECT_EQ(state(permit), State::active);
  ask(permit, 20);
  EXPECT_EQ(granted(permit), 7u);
  EXPECT_EQ(heard(0), -1) << "who asks is not called";
  EXPECT_EQ(g_held, 7);
  EXPECT_EQ(tcmDeactivatePermit(permit), Result::success);
  EXPECT_EQ(state(permit), State::inactive);
  EXPECT_EQ(g_held, 0);
}

TEST_F(PermitsTest, APrimaryThatIsOutsideForAMomentKeepsItsCpu) {
  Permit* permit = make();
  tcmRegisterThread(permit);
  ask(permit, 8);
  tick(9);
  EXPECT_EQ(granted(permit), 7u);
  tcmUnregisterThread();
  tick(3);
  EXPECT_EQ(granted(permit), 7u) << "between two calls";
  tick(1);
  EXPECT_EQ(granted(permit), 8u) << "it does something else";
}

TEST_F(PermitsTest, OthersAreToldWhenTheirPartChanges) {
  Permit* first = make();
  Permit* second = make();
  ask(first, 7);
  ask(second, 7);
  EXPECT_EQ(granted(first), 4u);
  EXPECT_EQ(granted(second), 3u);
  EXPECT_EQ(heard(0), 4);
  EXPECT_EQ(heard(1), -1);
  tcmDeactivatePermit(second);
  EXPECT_EQ(heard(0), 7);
}

TEST_F(PermitsTest, OneThreadIsGivenThoughNothingIsFree) {
  Permit* busy = make();
  ask(busy, 7);
  g_cpus = 1;
  Permit* starving = make();
  ask(starving, 7, 1);
  EXPECT_EQ(granted(starving), 1u);
  EXPECT_EQ(granted(busy), 0u);
  g_cpus = 8;
  tick(4);
  EXPECT_EQ(granted(starving) + granted(busy), 8u) << "nobody who runs has asked since";
  EXPECT_GT(heard(0), 0);
}

TEST_F(PermitsTest, ALargeLeastIsPending) {
  Permit* first = make();
  Permit* second = make();
  ask(first, 5, 5, true);
  EXPECT_EQ(granted(first), 5u);
  ask(second, 7, 4);
  EXPECT_EQ(state(second), State::pending);
  EXPECT_EQ(granted(second), 0u);
  tcmDeactivatePermit(first);
  EXPECT_EQ(state(second), State::active);
  EXPECT_EQ(heard(1), 7);
}

TEST_F(PermitsTest, RigidOnesKeepWhatTheyHave) {
  Permit* rigid = make();
  Permit* other = make();
  ask(rigid, 6, 1, true);
  EXPECT_EQ(granted(rigid), 6u);
  ask(other, 7);
  EXPECT_EQ(granted(rigid), 6u);
  EXPECT_EQ(granted(other), 1u);
  tcmIdlePermit(rigid);
  EXPECT_EQ(heard(1), 7) << "what is idle is free";
  tcmActivatePermit(rigid);
  EXPECT_EQ(granted(rigid) + granted(other), 7u);
}

TEST_F(PermitsTest, EachConstraintHasItsPart) {
  Permit* permit = make();
  tcm::Constraints constraints[2] = {{0, 3, nullptr, -1, -1, -1}, {0, -1, nullptr, -1, -1, -1}};
  const Request request{.constraints = constraints, .constraint_count = 2};
  uint32_t numbers[2] = {};
  Grant grant{.concurrencies = numbers, .masks = nullptr, .size = 2, .state = State::none, .flags = {}};
  ASSERT_EQ(tcmRequestPermit(client_, request, key(0), &permit, &grant), Result::success);
  EXPECT_EQ(numbers[0], 3u);
  EXPECT_EQ(numbers[1], 4u);
}

TEST_F(PermitsTest, BadArgumentsAreRefused) {
  Permit* permit = nullptr;
  EXPECT_EQ(tcmRequestPermit(client_ + 8, {}, nullptr, &permit, nullptr), Result::invalid_argument);
  EXPECT_EQ(tcmRequestPermit(client_, {.least = 3, .most = 2}, nullptr, &permit, nullptr), Result::invalid_argument);
  EXPECT_EQ(tcmConnect(nullptr, &client_), Result::invalid_argument);
  EXPECT_EQ(tcmGetPermitData(nullptr, nullptr), Result::invalid_argument);
  EXPECT_EQ(tcmReleasePermit(nullptr), Result::invalid_argument);
  EXPECT_EQ(tcmRegisterThread(nullptr), Result::invalid_argument);
  EXPECT_EQ(tcmUnregisterThread(), Result::invalid_argument);
  EXPECT_EQ(tcmGetVersion(), 10600u);
  char text[8];
  EXPECT_EQ(tcmGetVersionInfo(text, sizeof text), Result::success);
}

// ---- with a pool that works ----

TEST_F(PermitsTest, ThePoolKeepsAPart) {
  Permit* permit = make();
  g_load = {.roots = 1, .wanted = 7};
  tick(1);
  ask(permit, 7);
  // A root and the caller run; the pool has three workers.
  EXPECT_EQ(granted(permit), 3u);
  EXPECT_EQ(g_held, 3);
  // Regions are not seen at each look.
  g_load.wanted = 0;
  tick(1);
  EXPECT_EQ(granted(permit), 3u);
  tick(4);
  EXPECT_EQ(heard(0), 7) << "the monitor does not know for long that the caller runs";
  g_load.wanted = 7;
  tick(1);
  EXPECT_LE(heard(0), 4);
}

TEST_F(PermitsTest, MembersThatCallTheClientKeepTheirCpus) {
  Permit* permit = make();
  g_load = {.roots = 1, .members = 7, .wanted = 0};
  ask(permit, 7);
  EXPECT_EQ(granted(permit), 0u);
  g_load = {.roots = 1, .members = 4, .wanted = 0};
  tick(4);
  EXPECT_EQ(granted(permit), 3u);
}

TEST_F(PermitsTest, RootsThatAreWorkersAreNotCountedTwice) {
  Permit* permit = make();
  ask(permit, 7);
  EXPECT_EQ(g_held, 7);
  // All of them have opened regions; so has the caller.
  g_load = {.roots = 8, .primaries = 1, .workers = 7, .wanted = 0, .caller_counted = true};
  tick(4);
  EXPECT_EQ(granted(permit), 7u);
  EXPECT_EQ(g_held, 0) << "they hold slots as roots";
}

TEST_F(PermitsTest, ThreadsThatStayHoldTheirSlots) {
  Permit* permit = make();
  ask(permit, 7);
  std::atomic<int> step{0};
  // A worker: it has never asked for anything.
  std::thread worker([&] {
    EXPECT_EQ(tcmRegisterThread(permit), Result::success);
    step = 1;
    while (step < 2) std::this_thread::yield();
    EXPECT_EQ(tcmUnregisterThread(), Result::success);
  });
  while (step < 1) std::this_thread::yield();
  tick(3);
  EXPECT_EQ(g_held, 1) << "the other six have not come";
  tcmDeactivatePermit(permit);
  EXPECT_EQ(g_held, 0);
  tick(3);
  EXPECT_EQ(g_held, 1) << "it has a task still";
  step = 2;
  worker.join();
  tick(3);
  EXPECT_EQ(g_held, 0);
}

TEST_F(PermitsTest, WhenThePrimaryLeavesThePoolMayHaveTheCpus) {
  Permit* permit = make();
  g_load = {.roots = 1, .primaries = 1, .caller_counted = true};
  tcmRegisterThread(permit);
  ask(permit, 7);
  EXPECT_EQ(granted(permit), 7u);
  EXPECT_EQ(g_held, 7);
  tcmUnregisterThread();
  EXPECT_EQ(g_held, 0);
  EXPECT_EQ(heard(0), -1);
  tcmRegisterThread(permit);
  EXPECT_EQ(g_held, 7);
  tcmUnregisterThread();
}

TEST_F(PermitsTest, InsideOfAnotherPermitAThreadCountsOnce) {
  Permit* outer = make();
  Permit* inner = make();
  ask(outer, 7);
  std::thread worker([&] {
    tcmRegisterThread(outer);
    ask(inner, 7);
    tcmRegisterThread(inner);
    tick(3);
    EXPECT_EQ(g_held, 1);
    tcmUnregisterThread();
    tcmUnregisterThread();
  });
  worker.join();
  tcmDeactivatePermit(outer);
  tcmDeactivatePermit(inner);
}

// ---- threads and processes ----

std::atomic<int> g_in_callback{0};
std::atomic<bool> g_go_on{false};

Result linger(Permit*, void*, tcm::CallbackFlags) {
  g_in_callback = 1;
  while (!g_go_on) std::this_thread::yield();
  g_in_callback = 2;
  return Result::success;
}

TEST_F(PermitsTest, ReleaseWaitsForCallsThatRun) {
  uint64_t slow = 0;
  ASSERT_EQ(tcmConnect(linger, &slow), Result::success);
  Permit* permit = nullptr;
  ASSERT_EQ(tcmRequestPermit(slow, {.least = 0, .most = 7}, nullptr, &permit, nullptr), Result::success);
  Permit* other = make();
  std::thread asks([&] { ask(other, 7); });
  while (g_in_callback == 0) std::this_thread::yield();
  std::thread releases([&] {
    EXPECT_EQ(tcmReleasePermit(permit), Result::success);
    EXPECT_EQ(g_in_callback, 2);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  g_go_on = true;
  releases.join();
  asks.join();
  EXPECT_EQ(tcmDisconnect(slow), Result::success);
}

TEST_F(PermitsTest, TheChildOfAForkStartsClean) {
  Permit* permit = make();
  ask(permit, 7);
  std::atomic<int> step{0};
  std::thread worker([&] {
    tcmRegisterThread(permit);
    step = 1;
    while (step < 2) std::this_thread::yield();
    tcmUnregisterThread();
  });
  while (step < 1) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    if (g_held != 0) _exit(1);
    ask(permit, 3);
    if (granted(permit) != 3) _exit(2);
    Permit* fresh = make();
    ask(fresh, 7);
    if (granted(fresh) + granted(permit) != 7) _exit(3);
    if (tcmReleasePermit(permit) != Result::success) _exit(4);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(granted(permit), 7u);
  step = 2;
  worker.join();
}

// Whatever threads do at the same time, at the end each client knows what it has.
TEST_F(PermitsTest, Stress) {
  constexpr int kThreads = 4;
  std::vector<Permit*> all;
  for (int i = 0; i < kThreads; ++i) all.push_back(make());
  std::atomic<bool> stop{false};
  std::thread monitor([&] {
    while (!stop) tick(1);
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 3000; ++round) {
        Permit* permit = all[static_cast<size_t>(i)];
        ask(permit, 1 + (round + i) % 9, round % 2, round % 7 == 0);
        tcmRegisterThread(permit);
        if (round % 3 == 0) {
          Permit* inner = nullptr;
          tcmRequestPermit(client_, {.least = 0, .most = 3}, nullptr, &inner, nullptr);
          tcmRegisterThread(inner);
          tcmUnregisterThread();
          tcmReleasePermit(inner);
        }
        tcmUnregisterThread();
        if (round % 5 == 0) tcmIdlePermit(permit);
        if (round % 2 == 0) tcmDeactivatePermit(permit);
      }
      ask(all[static_cast<size_t>(i)], 7);
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop = true;
  monitor.join();
  tick(4);  // until the threads are forgotten
  tick(3);  // until what is granted is steady
  uint32_t sum = 0;
  for (int i = 0; i < kThreads; ++i) sum += granted(all[static_cast<size_t>(i)]);
  EXPECT_EQ(sum, 8u);
  EXPECT_EQ(g_held, 0) << "nobody is inside";
}

}  // namespace
