// SPDX-License-Identifier: Apache-2.0
// Signals to contexts that run, wait, and pass between carriers all the time: each arrives once, at the context that it
// was sent to; and those that stop all of them get an answer of each.
#include "core/context/signals.h"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../await.h"
#include "core/context/send_signal.h"
#include "core/sched/blocking.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"

namespace {

using namespace weft::core;

constexpr int kContexts = 10;
const int kCounted = SIGRTMIN + 4;
const int kStops = SIGRTMIN + 5;
const int kGoes = SIGRTMIN + 6;

struct Subject {
  pthread_t id{};
  Context* context = nullptr;
  std::atomic<bool> poked{false};
  // By atomic built-ins: see below.
  int came = 0;
  int stopped = 0;
  int gone_on = 0;
};

std::array<Subject, kContexts> g_subjects;
std::atomic<int> g_there{0};
std::atomic<bool> g_over{false};
int g_lost = 0;  // came to a thread that is none of them

// Read in handlers.
thread_local int t_number = -1;

// Handlers run at once, also as a context whose sanitizer's state is another's for the moment: so they have no
// instrumentation, and the sanitizer does not know of them.
__attribute__((no_sanitize("address", "thread", "undefined"))) void on_signal(int signal, siginfo_t*, void*) {
  const int number = t_number;
  if (number < 0) {
    __atomic_fetch_add(&g_lost, 1, __ATOMIC_SEQ_CST);
    return;
  }
  Subject* self = g_subjects.data() + number;
  if (signal == kCounted) __atomic_fetch_add(&self->came, 1, __ATOMIC_SEQ_CST);
  if (signal == kGoes) __atomic_fetch_add(&self->gone_on, 1, __ATOMIC_SEQ_CST);
  if (signal != kStops) return;
  // As collectors do.
  const int times = __atomic_add_fetch(&self->stopped, 1, __ATOMIC_SEQ_CST);
  const uint64_t all_but_one = ~(uint64_t{1} << (kGoes - 1));
  while (__atomic_load_n(&self->gone_on, __ATOMIC_SEQ_CST) < times) {
    weft::platform::system_call(SYS_rt_sigsuspend, &all_but_one, sizeof all_but_one);
  }
}

struct Action {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};

void handle(int signal) {
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  ASSERT_EQ(sigaction(signal, &action, nullptr), 0);
  // In place of the sanitizer's.
  Action raw{};
  ASSERT_EQ(syscall(SYS_rt_sigaction, signal, nullptr, &raw, sizeof raw.mask), 0);
  raw.handler = on_signal;
  ASSERT_EQ(syscall(SYS_rt_sigaction, signal, &raw, nullptr, sizeof raw.mask), 0);
}

void live(void* argument) {
  auto* self = static_cast<Subject*>(argument);
  t_number = static_cast<int>(self - g_subjects.data());
  self->id = pthread_self();
  ++g_there;
  for (unsigned turn = static_cast<unsigned>(t_number); !g_over.load(); ++turn) {
    if (turn % 3 == 0) {
      yield();
    } else {
      block_unless([self] { return self->poked.exchange(false) || g_over.load(); });
    }
  }
  // No handler counts for it any more.
  t_number = -1;
  --g_there;
}

void send(const Subject& to, int signal) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_TKILL;
  info.si_pid = getpid();
  int error = EAGAIN;
  // There are so many letters, and no more.
  await([&] { return (error = send_signal(to.id, info)) != EAGAIN; });
  ASSERT_EQ(error, 0);
}

int value(int& count) { return __atomic_load_n(&count, __ATOMIC_SEQ_CST); }

// Contexts that are woken all the time.
class Crowd {
 public:
  explicit Crowd(int parked_threads) {
    start({.slots = 3, .stack_size = 256 * 1024, .parked_threads = parked_threads, .spin_ns = 0});
    handle(kCounted);
    handle(kStops);
    handle(kGoes);
    g_over = false;
    self_ = attach();
    enter_region(self_, kContexts);
    for (Subject& subject : g_subjects) {
      subject.came = subject.stopped = subject.gone_on = 0;
      subject.context = make_context(live, &subject, 1);
      launch(subject.context);
    }
    EXPECT_TRUE(await([] { return g_there.load() == kContexts; }));
    poker_ = std::thread([this] {
      for (unsigned i = 0; !done_.load(); ++i) {
        Subject& subject = g_subjects[i * 7 % kContexts];
        subject.poked = true;
        unblock(subject.context);
        if (i % 64 == 0) std::this_thread::yield();
      }
    });
  }
  ~Crowd() {
    done_ = true;
    poker_.join();
    g_over = true;
    for (Subject& subject : g_subjects) unblock(subject.context);
    EXPECT_TRUE(await([] { return g_there.load() == 0; }));
    EXPECT_EQ(value(g_lost), 0);
    leave_region(self_);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  Context* self_ = nullptr;
  std::atomic<bool> done_{false};
  std::thread poker_;
};

// The donors that run handlers are threads, or come back as such each time.
class SignalsTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Donors, SignalsTest, testing::Values(100, 0),
                         [](const auto& info) { return info.param == 0 ? "Absent" : "Present"; });

TEST_P(SignalsTest, EachArrivesOnceWhereItWasSent) {
  const Crowd crowd(GetParam());
  constexpr int kSenders = 3;
  constexpr int kTimes = 2000;
  std::array<std::atomic<int>, kContexts> sent{};
  std::vector<std::thread> senders;
  for (unsigned s = 0; s < kSenders; ++s) {
    senders.emplace_back([&sent, s] {
      for (unsigned i = 0; i < kTimes; ++i) {
        const size_t to = (i * (2 * s + 1) + s) % kContexts;
        ++sent[to];
        send(g_subjects[to], kCounted);
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  const auto came_to = [](size_t i) { return value(g_subjects[i].came); };
  await([&] {
    for (size_t i = 0; i < kContexts; ++i) {
      if (came_to(i) != sent[i].load()) return false;
    }
    return true;
  });
  for (size_t i = 0; i < kContexts; ++i) EXPECT_EQ(came_to(i), sent[i].load()) << i;
}

bool all_have(int Subject::* count, int expected) {
  return await([=] {
    for (Subject& subject : g_subjects) {
      if (value(subject.*count) != expected) return false;
    }
    return true;
  });
}

// Whatever they have been stopped in; and each waits in its handler for another signal.
TEST_P(SignalsTest, AllCanBeStopped) {
  const Crowd crowd(GetParam());
  constexpr int kTimes = 500;
  for (int i = 1; i <= kTimes; ++i) {
    for (const Subject& subject : g_subjects) send(subject, kStops);
    ASSERT_TRUE(all_have(&Subject::stopped, i)) << "time " << i;
    for (const Subject& subject : g_subjects) send(subject, kGoes);
    ASSERT_TRUE(all_have(&Subject::gone_on, i)) << "time " << i;
  }
}

}  // namespace
