// SPDX-License-Identifier: Apache-2.0
// The runtime's own guards of function-local statics, by hand: threads that meet at one initialize it once, see what
// has been written, and find errno as it was. With libstdc++'s, errno becomes EAGAIN every few thousand rounds.
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

// As the compiler declares them.
extern "C" int __cxa_guard_acquire(int64_t* guard);
extern "C" void __cxa_guard_release(int64_t* guard);
extern "C" void __cxa_guard_abort(int64_t* guard);

namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 5'000;

struct Static {
  int64_t guard = 0;
  int value = 0;
  std::atomic<int> initialized{0};
  std::atomic<int> arrived{0};
};

// What the compiler makes of a function-local static, whose initialization fails `failures` times.
void use(Static& object, int failures) {
  const auto* first_byte = reinterpret_cast<const std::atomic<uint8_t>*>(&object.guard);
  while (first_byte->load(std::memory_order_acquire) == 0) {
    if (__cxa_guard_acquire(&object.guard) == 0) continue;
    if (object.value < failures) {
      ++object.value;
      __cxa_guard_abort(&object.guard);
      continue;
    }
    object.value = 77;
    ++object.initialized;
    __cxa_guard_release(&object.guard);
  }
}

TEST(StaticGuardTest, MeetingThreadsInitializeOnceAndKeepErrno) {
  const auto objects = std::make_unique<Static[]>(kRounds);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        Static& object = objects[round];
        errno = 1234;
        ++object.arrived;
        // All at once, as far as there are CPUs.
        while (object.arrived.load() < kThreads) std::this_thread::yield();
        use(object, round % 3);
        if (errno != 1234 || object.value != 77 || object.initialized.load() != 1) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
