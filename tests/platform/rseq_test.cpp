// SPDX-License-Identifier: Apache-2.0
// A thread leaves the area that its C library has registered, whatever length it was registered with.
#include "platform/rseq.h"

#include <array>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using weft::platform::RseqArea;

constexpr int32_t kNotRegistered = -1;
#if defined(__x86_64__)
constexpr unsigned kSignature = 0x53053053;
#else
constexpr unsigned kSignature = 0xd428bc00;
#endif

// In a thread that has nothing registered.
template <class Body>
void in_free_thread(Body body) {
  std::thread([&] {
    ASSERT_TRUE(weft::platform::leave_rseq());
    body();
  }).join();
}

TEST(Rseq, IsLeft) {
  in_free_thread([] {
    RseqArea area;
    EXPECT_EQ(syscall(SYS_rseq, &area, sizeof area, 0, kSignature), 0);  // nothing else is registered
    EXPECT_TRUE(weft::platform::leave_rseq());  // nothing is to be done
    EXPECT_GE(sched_getcpu(), 0);
    EXPECT_TRUE(weft::platform::leave_rseq(&area, sizeof area));
  });
}

// What later C libraries register: more than the 32 bytes that this one does.
TEST(Rseq, IsLeftAtAnyLength) {
  in_free_thread([] {
    struct alignas(64) Longer {
      RseqArea first;
      std::array<char, 96> rest{};
    };
    for (const unsigned length : {32u, 64u, 128u}) {
      Longer longer;
      if (syscall(SYS_rseq, &longer, length, 0, kSignature) != 0) continue;  // an old kernel knows the first only
      EXPECT_GE(static_cast<int32_t>(longer.first.cpu_id), 0);
      EXPECT_TRUE(weft::platform::leave_rseq(&longer, length)) << length;
      EXPECT_EQ(static_cast<int32_t>(longer.first.cpu_id), kNotRegistered) << length;
    }
  });
}

TEST(Rseq, IsNotLeftWithAWrongLength) {
  in_free_thread([] {
    struct alignas(64) Longer {
      RseqArea first;
      std::array<char, 96> rest{};
    } longer;
    constexpr unsigned kLength = 128;
    if (syscall(SYS_rseq, &longer, kLength, 0, kSignature) != 0) GTEST_SKIP() << "the kernel knows one length only";
    EXPECT_FALSE(weft::platform::leave_rseq(&longer, sizeof longer.first));
    EXPECT_TRUE(weft::platform::leave_rseq(&longer, kLength));
  });
}

TEST(Rseq, AnAreaOfTheThreadsOwnKeepsOthersOut) {
  in_free_thread([] {
    RseqArea own;
    RseqArea other;
    weft::platform::take_rseq_area(own);
    EXPECT_GE(static_cast<int32_t>(own.cpu_id), 0);
    EXPECT_NE(syscall(SYS_rseq, &other, sizeof other, 0, kSignature), 0);
    weft::platform::drop_rseq_area(own);
    EXPECT_EQ(syscall(SYS_rseq, &other, sizeof other, 0, kSignature), 0);
    weft::platform::drop_rseq_area(other);
  });
}

}  // namespace
