// SPDX-License-Identifier: Apache-2.0
#include "weft/rwlock.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <thread>
#include <vector>

#include <csignal>
#include <ctime>

#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <gtest/gtest.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "segment.h"
#include "shm/rwlock/attachment.h"

namespace weft::shm::test {

namespace {

timespec in_ms(long ms) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long ns = now.tv_nsec + ms % 1000 * 1'000'000;
  return {now.tv_sec + ms / 1000 + ns / 1'000'000'000, ns % 1'000'000'000};
}

void sleep_ms(long ms) {
  const timespec rest{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&rest, nullptr);
}

bool says(const char* part) { return std::strstr(weft_shm_error(), part) != nullptr; }

// What the lock guards, and what the processes of a test tell each other.
struct Shared {
  volatile uint64_t first, second;
  std::atomic<int> step;
  std::atomic<int> inside;
};

class RwlockTest : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr unsigned kReaders = 8;

  RwlockTest() : segment_(weft_rwlock_size(kReaders)), shared_(4096) {
    EXPECT_EQ(weft_rwlock_create(segment_.memory(), segment_.bytes(), kReaders, GetParam()), 0) << weft_shm_error();
    lock_ = attach();
  }
  ~RwlockTest() override {
    EXPECT_EQ(weft_rwlock_destroy(lock_), 0) << "somebody is left";
    EXPECT_EQ(weft_rwlock_detach(lock_), 0);
  }

  weft_rwlock* attach() const {
    weft_rwlock* lock = nullptr;
    EXPECT_EQ(weft_rwlock_attach(&lock, segment_.memory(), segment_.bytes()), 0) << weft_shm_error();
    return lock;
  }
  static weft_rwlock_reader* enrol(weft_rwlock* lock) {
    weft_rwlock_reader* reader = nullptr;
    EXPECT_EQ(weft_rwlock_register(&reader, lock), 0) << weft_shm_error();
    return reader;
  }
  Shared& shared() const { return *shared_.as<Shared>(); }
  void wait_for_step(int step) const {
    while (shared().step < step) sleep_ms(1);
  }

  Segment segment_;
  Segment shared_;
  weft_rwlock* lock_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Modes, RwlockTest,
                         testing::Values(0u, WEFT_RWLOCK_PORTABLE, WEFT_RWLOCK_PHASE_FAIR,
                                         WEFT_RWLOCK_PHASE_FAIR | WEFT_RWLOCK_PORTABLE));

TEST_P(RwlockTest, ReadersAreInTogetherAndWritersAlone) {
  weft_rwlock_reader* const one = enrol(lock_);
  std::thread([&] {
    weft_rwlock_reader* const two = enrol(lock_);
    EXPECT_EQ(weft_rwlock_rdlock(one), 0);
    EXPECT_EQ(weft_rwlock_rdlock(two), 0);
    EXPECT_EQ(weft_rwlock_rdunlock(two), 0);
    EXPECT_EQ(weft_rwlock_unregister(two), 0);
  }).join();
  std::thread([&] { EXPECT_EQ(weft_rwlock_trywrlock(lock_), EBUSY); }).join();
  EXPECT_EQ(weft_rwlock_rdunlock(one), 0);
  std::thread([&] {
    EXPECT_EQ(weft_rwlock_wrlock(lock_), 0);
    weft_rwlock_reader* const two = enrol(lock_);
    EXPECT_EQ(weft_rwlock_rdlock(two), EDEADLK);
    EXPECT_EQ(weft_rwlock_wrlock(lock_), EDEADLK);
    EXPECT_EQ(weft_rwlock_unregister(two), 0);
    std::thread([&] {
      EXPECT_EQ(weft_rwlock_tryrdlock(one), EBUSY);
      EXPECT_EQ(weft_rwlock_trywrlock(lock_), EBUSY);
      const timespec soon = in_ms(20);
      EXPECT_EQ(weft_rwlock_timedrdlock(one, &soon), ETIMEDOUT);
      EXPECT_EQ(weft_rwlock_timedwrlock(lock_, &soon), ETIMEDOUT);
      EXPECT_EQ(weft_rwlock_wrunlock(lock_), EPERM);
    }).join();
    EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
  }).join();
  EXPECT_EQ(weft_rwlock_tryrdlock(one), 0);
  EXPECT_EQ(weft_rwlock_rdunlock(one), 0);
  EXPECT_EQ(weft_rwlock_rdunlock(one), EPERM);
  EXPECT_EQ(weft_rwlock_unregister(one), 0);
}

TEST_P(RwlockTest, NestedReadLocksDoNotWaitForAWriter) {
  weft_rwlock_reader* const reader = enrol(lock_);
  ASSERT_EQ(weft_rwlock_rdlock(reader), 0);
  EXPECT_EQ(weft_rwlock_wrlock(lock_), EDEADLK);
  std::atomic<bool> written{false};
  std::thread writer([&] {
    EXPECT_EQ(weft_rwlock_wrlock(lock_), 0);
    written = true;
    EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
  });
  sleep_ms(30);
  EXPECT_EQ(weft_rwlock_rdlock(reader), 0);
  EXPECT_EQ(weft_rwlock_tryrdlock(reader), 0);
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  EXPECT_FALSE(written);
  // Beside a writer that waits for this very reader, too.
  EXPECT_EQ(weft_rwlock_wrlock(lock_), EDEADLK);
  EXPECT_EQ(weft_rwlock_trywrlock(lock_), EDEADLK);
  EXPECT_TRUE(says("read lock")) << weft_shm_error();
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  writer.join();
  EXPECT_EQ(weft_rwlock_unregister(reader), 0);
}

TEST_P(RwlockTest, WhoGivesUpLeavesTheGateOpen) {
  weft_rwlock_reader* const reader = enrol(lock_);
  ASSERT_EQ(weft_rwlock_rdlock(reader), 0);
  std::thread([&] {
    const timespec soon = in_ms(30);
    EXPECT_EQ(weft_rwlock_timedwrlock(lock_, &soon), ETIMEDOUT);
    weft_rwlock_reader* const other = enrol(lock_);
    EXPECT_EQ(weft_rwlock_tryrdlock(other), 0);
    EXPECT_EQ(weft_rwlock_rdunlock(other), 0);
    EXPECT_EQ(weft_rwlock_unregister(other), 0);
  }).join();
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  EXPECT_EQ(weft_rwlock_unregister(reader), 0);
}

TEST_P(RwlockTest, MoreReadersThanRecordsAreRefused) {
  std::vector<weft_rwlock_reader*> readers;
  for (unsigned i = 0; i < kReaders; ++i) readers.push_back(enrol(lock_));
  weft_rwlock_reader* none = nullptr;
  EXPECT_EQ(weft_rwlock_register(&none, lock_), EAGAIN);
  EXPECT_TRUE(says("more readers")) << weft_shm_error();
  EXPECT_EQ(weft_rwlock_destroy(lock_), EBUSY);
  EXPECT_TRUE(says("weft_rwlock_destroy")) << weft_shm_error();
  EXPECT_EQ(weft_rwlock_detach(lock_), EBUSY);
  EXPECT_TRUE(says("unregister first")) << weft_shm_error();
  std::thread([&] { EXPECT_EQ(weft_rwlock_unregister(readers[0]), EPERM); }).join();
  for (weft_rwlock_reader* reader : readers) EXPECT_EQ(weft_rwlock_unregister(reader), 0);
}

TEST_P(RwlockTest, TheRecordsOfThreadsAndProcessesThatEndAreFreed) {
  for (unsigned i = 0; i < 2 * kReaders; ++i) {
    std::thread([&] { enrol(lock_); }).join();
    EXPECT_EQ(result_of(spawn([&] { return enrol(attach()) == nullptr; })), 0);
  }
  weft_rwlock_reader* ended = nullptr;
  std::thread([&] { ended = enrol(lock_); }).join();
  EXPECT_EQ(weft_rwlock_unregister(ended), 0) << "its thread has ended";
}

TEST_P(RwlockTest, AReaderThatIsKilledInsideDoesNotKeepWritersOut) {
  const pid_t child = spawn([&] {
    if (weft_rwlock_rdlock(enrol(attach())) != 0) return 1;
    shared().step = 1;
    for (;;) pause();
  });
  wait_for_step(1);
  EXPECT_EQ(weft_rwlock_trywrlock(lock_), EBUSY);
  kill(child, SIGKILL);
  EXPECT_EQ(result_of(child), -SIGKILL);
  EXPECT_EQ(weft_rwlock_wrlock(lock_), 0);
  EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
}

TEST_P(RwlockTest, AReaderThatIsStoppedKeepsWhatItHas) {
  const pid_t child = spawn([&] {
    weft_rwlock* const lock = attach();
    weft_rwlock_reader* const reader = enrol(lock);
    if (weft_rwlock_rdlock(reader) != 0) return 1;
    shared().step = 1;
    wait_for_step(2);
    return weft_rwlock_rdunlock(reader);
  });
  wait_for_step(1);
  kill(child, SIGSTOP);
  const timespec soon = in_ms(120);
  EXPECT_EQ(weft_rwlock_timedwrlock(lock_, &soon), ETIMEDOUT);
  kill(child, SIGCONT);
  shared().step = 2;
  EXPECT_EQ(weft_rwlock_wrlock(lock_), 0);
  EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
  EXPECT_EQ(result_of(child), 0);
}

TEST_P(RwlockTest, AWriterThatIsKilledInsideIsReportedUntilTheDataIsMended) {
  weft_rwlock_reader* const reader = enrol(lock_);
  EXPECT_EQ(result_of(spawn([&] {
              if (weft_rwlock_wrlock(attach()) != 0) return 1;
              return kill(getpid(), SIGKILL);
            })),
            -SIGKILL);
  EXPECT_EQ(weft_rwlock_rdlock(reader), EOWNERDEAD);
  EXPECT_TRUE(says("weft_rwlock_consistent")) << weft_shm_error();
  EXPECT_EQ(weft_rwlock_rdlock(reader), EOWNERDEAD);
  EXPECT_EQ(weft_rwlock_wrlock(lock_), EOWNERDEAD);
  EXPECT_EQ(weft_rwlock_consistent(lock_), 0);
  EXPECT_EQ(weft_rwlock_consistent(lock_), EINVAL);
  EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
  EXPECT_EQ(weft_rwlock_rdlock(reader), 0);
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  EXPECT_EQ(weft_rwlock_unregister(reader), 0);
}

TEST_P(RwlockTest, AWritersThreadThatEndsInsideDoesNotKeepTheAttachment) {
  for (const bool noticed : {false, true}) {
    weft_rwlock* const other = attach();
    std::atomic<int> step{0};
    std::thread writer([&] {
      EXPECT_EQ(weft_rwlock_wrlock(other), 0);
      step = 1;
      while (step != 2) sleep_ms(1);
    });
    while (step != 1) sleep_ms(1);
    EXPECT_EQ(weft_rwlock_detach(other), EBUSY);
    EXPECT_TRUE(says("write lock")) << weft_shm_error();
    step = 2;
    writer.join();
    const auto mend = [&] {
      EXPECT_EQ(weft_rwlock_wrlock(lock_), EOWNERDEAD);
      EXPECT_EQ(weft_rwlock_consistent(lock_), 0);
      EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
    };
    if (noticed) mend();
    EXPECT_EQ(weft_rwlock_detach(other), 0);
    if (!noticed) mend();
  }
}

TEST_P(RwlockTest, AReaderCountsNoFurtherThanItCan) {
  weft_rwlock_reader* const reader = enrol(lock_);
  ASSERT_EQ(weft_rwlock_rdlock(reader), 0);
  *reader->record += WEFT_RWLOCK_DEEPEST_ - 2;
  EXPECT_EQ(weft_rwlock_rdlock(reader), 0);
  EXPECT_EQ(weft_rwlock_rdlock(reader), EAGAIN);
  EXPECT_EQ(weft_rwlock_tryrdlock(reader), EAGAIN);
  EXPECT_TRUE(says("given back")) << weft_shm_error();
  EXPECT_EQ(weft_rwlock_trywrlock(lock_), EDEADLK) << "it is in";
  EXPECT_EQ(weft_rwlock_unregister(reader), EBUSY);
  EXPECT_TRUE(says("unlock first")) << weft_shm_error();
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  EXPECT_EQ(weft_rwlock_rdlock(reader), 0);
  *reader->record -= WEFT_RWLOCK_DEEPEST_ - 1;
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  EXPECT_EQ(weft_rwlock_unregister(reader), 0);
}

TEST_P(RwlockTest, AReaderThatWaitsHearsOfTheWritersDeath) {
  weft_rwlock_reader* const reader = enrol(lock_);
  const pid_t child = spawn([&] {
    if (weft_rwlock_wrlock(attach()) != 0) return 1;
    shared().step = 1;
    for (;;) pause();
  });
  wait_for_step(1);
  std::thread killer([&] {
    sleep_ms(30);
    kill(child, SIGKILL);
  });
  EXPECT_EQ(weft_rwlock_rdlock(reader), EOWNERDEAD);
  killer.join();
  EXPECT_EQ(result_of(child), -SIGKILL);
  EXPECT_EQ(weft_rwlock_wrlock(lock_), EOWNERDEAD);
  EXPECT_EQ(weft_rwlock_consistent(lock_), 0);
  EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
  EXPECT_EQ(weft_rwlock_unregister(reader), 0);
}

TEST_P(RwlockTest, DataThatNobodyMendsIsLost) {
  weft_rwlock_reader* const reader = enrol(lock_);
  EXPECT_EQ(result_of(spawn([&] {
              if (weft_rwlock_wrlock(attach()) != 0) return 1;
              return kill(getpid(), SIGKILL);
            })),
            -SIGKILL);
  EXPECT_EQ(weft_rwlock_wrlock(lock_), EOWNERDEAD);
  EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
  EXPECT_EQ(weft_rwlock_wrlock(lock_), ENOTRECOVERABLE);
  EXPECT_EQ(weft_rwlock_trywrlock(lock_), ENOTRECOVERABLE);
  EXPECT_EQ(weft_rwlock_rdlock(reader), ENOTRECOVERABLE);
  EXPECT_EQ(weft_rwlock_tryrdlock(reader), ENOTRECOVERABLE);
  EXPECT_EQ(weft_rwlock_unregister(reader), 0);
}

TEST_P(RwlockTest, AWriterThatIsKilledWhileItWaitsLeavesNothing) {
  weft_rwlock_reader* const reader = enrol(lock_);
  ASSERT_EQ(weft_rwlock_rdlock(reader), 0);
  const pid_t child = spawn([&] {
    weft_rwlock* const lock = attach();
    shared().step = 1;
    return weft_rwlock_wrlock(lock);
  });
  wait_for_step(1);
  sleep_ms(20);
  kill(child, SIGKILL);
  EXPECT_EQ(result_of(child), -SIGKILL);
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  EXPECT_EQ(weft_rwlock_rdlock(reader), 0);
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  EXPECT_EQ(weft_rwlock_wrlock(lock_), 0);
  EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
  EXPECT_EQ(weft_rwlock_unregister(reader), 0);
}

// What the kernel counts as perhaps a thread's: if the thread is killed, and the owner has the same number in another
// PID namespace, the kernel takes the owner for dead.
TEST_P(RwlockTest, AWriterThatWaitsAnnouncesNothingToTheKernel) {
  ASSERT_EQ(weft_rwlock_wrlock(lock_), 0);
  std::atomic<pid_t> waiter{0};
  std::thread writer([&] {
    waiter = static_cast<pid_t>(syscall(SYS_gettid));
    EXPECT_EQ(weft_rwlock_wrlock(lock_), 0);
    EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
  });
  sleep_ms(30);
  // Read as the kernel does, beside a thread that may write: by the kernel.
  void* of_waiter = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(syscall(SYS_get_robust_list, waiter.load(), &of_waiter, &bytes), 0);
  robust_list_head seen{};
  const iovec from{of_waiter, sizeof(seen)}, to{&seen, sizeof(seen)};
  ASSERT_EQ(syscall(SYS_process_vm_readv, getpid(), &to, 1, &from, 1, 0), static_cast<long>(sizeof(seen)));
  EXPECT_EQ(seen.list_op_pending, nullptr);
  EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
  writer.join();
}

// Each one that sleeps is woken by the one before it, also where one gives up or is killed among them.
TEST_P(RwlockTest, WritersThatSleepAreWokenOneByOne) {
  ASSERT_EQ(weft_rwlock_wrlock(lock_), 0);
  std::vector<std::thread> writers;
  for (int i = 0; i < 6; ++i) {
    writers.emplace_back([&, i] {
      const timespec soon = in_ms(i == 2 ? 20 : 20'000);
      if (weft_rwlock_timedwrlock(lock_, &soon) != 0) return;
      ++shared().inside;
      EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
    });
  }
  const pid_t child = spawn([&] { return weft_rwlock_wrlock(attach()); });
  sleep_ms(60);
  kill(child, SIGKILL);
  EXPECT_EQ(result_of(child), -SIGKILL);
  EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(shared().inside, 5);
}

TEST_P(RwlockTest, AChildOfAForkRegistersAnew) {
  weft_rwlock_reader* const reader = enrol(lock_);
  ASSERT_EQ(weft_rwlock_rdlock(reader), 0);
  const int result = result_of(spawn([&] {
    if (weft_rwlock_rdunlock(reader) != EPERM || weft_rwlock_rdlock(reader) != EPERM) return 1;
    if (!says("weft_rwlock_register")) return 2;
    const timespec soon = in_ms(1);
    if (weft_rwlock_tryrdlock(reader) != EPERM || weft_rwlock_timedrdlock(reader, &soon) != EPERM) return 3;
    weft_rwlock_reader* const mine = enrol(lock_);
    if (weft_rwlock_rdlock(mine) != 0 || weft_rwlock_rdunlock(mine) != 0) return 4;
    if (weft_rwlock_trywrlock(lock_) != EBUSY) return 5;
    return weft_rwlock_unregister(mine) + weft_rwlock_unregister(reader);
  }));
  EXPECT_EQ(result, 0);
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  ASSERT_EQ(weft_rwlock_wrlock(lock_), 0);
  EXPECT_EQ(
      result_of(spawn([&] { return weft_rwlock_wrunlock(lock_) != EPERM || weft_rwlock_trywrlock(lock_) != EBUSY; })),
      0);
  EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
  EXPECT_EQ(weft_rwlock_unregister(reader), 0);
}

TEST_P(RwlockTest, AReaderThatExecutesAnotherProgramIsGone) {
  const pid_t child = spawn([&] {
    if (weft_rwlock_rdlock(enrol(attach())) != 0) return 1;
    shared().step = 1;
    wait_for_step(2);
    execl("/bin/sleep", "sleep", "100", nullptr);
    return 2;
  });
  wait_for_step(1);
  EXPECT_EQ(weft_rwlock_trywrlock(lock_), EBUSY);
  shared().step = 2;
  EXPECT_EQ(weft_rwlock_wrlock(lock_), 0);
  EXPECT_EQ(weft_rwlock_wrunlock(lock_), 0);
  kill(child, SIGKILL);
  EXPECT_EQ(result_of(child), -SIGKILL);
}

TEST_P(RwlockTest, AThreadFindsItselfThroughAnotherAttachment) {
  void* const again = segment_.map();
  weft_rwlock* other = nullptr;
  ASSERT_EQ(weft_rwlock_attach(&other, again, segment_.bytes()), 0);
  weft_rwlock_reader* const reader = enrol(lock_);
  ASSERT_EQ(weft_rwlock_rdlock(reader), 0);
  EXPECT_EQ(weft_rwlock_wrlock(other), EDEADLK);
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  ASSERT_EQ(weft_rwlock_wrlock(other), 0);
  EXPECT_EQ(weft_rwlock_wrlock(lock_), EDEADLK);
  EXPECT_EQ(weft_rwlock_rdlock(reader), EDEADLK);
  EXPECT_EQ(weft_rwlock_wrunlock(other), 0);
  EXPECT_EQ(weft_rwlock_rdlock(reader), 0);
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  EXPECT_EQ(weft_rwlock_unregister(reader), 0);
  EXPECT_EQ(weft_rwlock_detach(other), 0);
  munmap(again, segment_.bytes());
}

// Threads that read and write; what they read is never half written. In one process, so that ThreadSanitizer sees it.
TEST_P(RwlockTest, StressOfThreads) {
  constexpr int kRounds = 20'000;
  uint64_t first = 0;
  uint64_t second = 0;
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  threads.reserve(6);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      weft_rwlock_reader* const reader = enrol(lock_);
      for (int round = 0; !done; ++round) {
        int error = 0;
        if (round % 7 == i) {
          const timespec soon = in_ms(round % 2);
          error = weft_rwlock_timedrdlock(reader, &soon);
        } else {
          error = round % 5 == 0 ? weft_rwlock_tryrdlock(reader) : weft_rwlock_rdlock(reader);
        }
        if (error != 0) {
          ASSERT_TRUE(error == EBUSY || error == ETIMEDOUT) << error;
          continue;
        }
        ASSERT_EQ(first, second);
        ASSERT_EQ(weft_rwlock_rdunlock(reader), 0);
      }
      EXPECT_EQ(weft_rwlock_unregister(reader), 0);
    });
  }
  std::vector<std::thread> writers;
  for (int i = 0; i < 2; ++i) {
    writers.emplace_back([&] {
      for (int round = 0; round < kRounds / 20; ++round) {
        int error = 0;
        if (round % 3 == 0) {
          const timespec soon = in_ms(1);
          error = weft_rwlock_timedwrlock(lock_, &soon);
        } else {
          error = round % 5 == 0 ? weft_rwlock_trywrlock(lock_) : weft_rwlock_wrlock(lock_);
        }
        if (error != 0) {
          ASSERT_TRUE(error == EBUSY || error == ETIMEDOUT) << error;
          continue;
        }
        ++first;
        ++second;
        ASSERT_EQ(weft_rwlock_wrunlock(lock_), 0);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(first, second);
  EXPECT_GT(first, 0u);
}

class FairRwlockTest : public RwlockTest {};

INSTANTIATE_TEST_SUITE_P(Modes, FairRwlockTest,
                         testing::Values(WEFT_RWLOCK_PHASE_FAIR, WEFT_RWLOCK_PHASE_FAIR | WEFT_RWLOCK_PORTABLE));

// Beside writers that follow each other without a pause.
TEST_P(FairRwlockTest, ReadersComeInBetweenWriters) {
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (int i = 0; i < 2; ++i) {
    writers.emplace_back([&] {
      while (!done) {
        ASSERT_EQ(weft_rwlock_wrlock(lock_), 0);
        ASSERT_EQ(weft_rwlock_wrunlock(lock_), 0);
      }
    });
  }
  weft_rwlock_reader* const reader = enrol(lock_);
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(weft_rwlock_rdlock(reader), 0);
    ASSERT_EQ(weft_rwlock_rdunlock(reader), 0);
  }
  done = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(weft_rwlock_unregister(reader), 0);
}

TEST(RwlockInputTest, WhatCannotBeALockIsRefusedWithAReason) {
  EXPECT_EQ(weft_rwlock_size(0), 0u);
  EXPECT_EQ(weft_rwlock_size(WEFT_RWLOCK_MOST_READERS + 1), 0u);
  const size_t bytes = weft_rwlock_size(4);
  const Segment segment(bytes);
  auto* const memory = segment.as<char>();
  weft_rwlock* lock = nullptr;
  EXPECT_EQ(weft_rwlock_create(nullptr, bytes, 4, 0), EINVAL);
  EXPECT_EQ(weft_rwlock_create(memory + 8, bytes, 4, 0), EINVAL);
  EXPECT_TRUE(says("aligned"));
  EXPECT_EQ(weft_rwlock_create(memory, bytes - 1, 4, 0), EINVAL);
  EXPECT_TRUE(says("weft_rwlock_size"));
  EXPECT_EQ(weft_rwlock_create(memory, bytes, 0, 0), EINVAL);
  EXPECT_EQ(weft_rwlock_create(memory, bytes, 4, 64), EINVAL);
  EXPECT_EQ(weft_rwlock_attach(&lock, memory, bytes), EAGAIN) << "nobody has made it";
  ASSERT_EQ(weft_rwlock_create(memory, bytes, 4, 0), 0);
  EXPECT_EQ(weft_rwlock_attach(nullptr, memory, bytes), EINVAL);
  EXPECT_EQ(weft_rwlock_attach(&lock, nullptr, bytes), EINVAL);
  EXPECT_EQ(weft_rwlock_attach(&lock, memory + 1, bytes), EINVAL);
  EXPECT_EQ(weft_rwlock_attach(&lock, memory, 32), EINVAL);
  EXPECT_EQ(weft_rwlock_attach(&lock, memory, bytes - 1), EINVAL);
  ASSERT_EQ(weft_rwlock_attach(&lock, memory, bytes), 0);
  const timespec wrong{0, 1'000'000'000};
  EXPECT_EQ(weft_rwlock_timedwrlock(lock, &wrong), EINVAL);
  EXPECT_EQ(weft_rwlock_timedwrlock(lock, nullptr), EINVAL);
  const timespec past{-5, 0};
  EXPECT_EQ(weft_rwlock_timedwrlock(lock, &past), 0);
  EXPECT_EQ(weft_rwlock_wrunlock(lock), 0);
  EXPECT_EQ(weft_rwlock_wrunlock(nullptr), EINVAL);
  EXPECT_EQ(weft_rwlock_destroy(lock), 0);
  weft_rwlock* other = nullptr;
  EXPECT_EQ(weft_rwlock_attach(&other, memory, bytes), EBADMSG);
  EXPECT_TRUE(says("destroyed"));
  EXPECT_EQ(weft_rwlock_detach(lock), 0);
}

TEST(RwlockInputTest, OtherVersionsAndGarbageAreRefused) {
  const size_t bytes = weft_rwlock_size(4);
  const Segment segment(bytes);
  auto* const words = segment.as<uint32_t>();
  weft_rwlock* lock = nullptr;
  // Behind the magic: kind, byte order, words, layout.
  for (const int word : {3, 4, 5}) {
    ASSERT_EQ(weft_rwlock_create(segment.memory(), bytes, 4, 0), 0);
    words[word] ^= 0x01000000;
    EXPECT_EQ(weft_rwlock_attach(&lock, segment.memory(), bytes), EPROTO) << word;
    EXPECT_TRUE(says("another version"));
  }
  ASSERT_EQ(weft_rwlock_create(segment.memory(), bytes, 4, 0), 0);
  words[2] = 77;
  EXPECT_EQ(weft_rwlock_attach(&lock, segment.memory(), bytes), EBADMSG);
  unsigned seed = 1;
  for (int round = 0; round < 200; ++round) {
    for (size_t i = 0; i < bytes / 4; ++i) words[i] = static_cast<uint32_t>(rand_r(&seed)) * 2654435761u | 1u;
    EXPECT_EQ(weft_rwlock_attach(&lock, segment.memory(), bytes), EBADMSG);
  }
}

// The kernel tells nobody of more than 2048 when a thread ends.
TEST(RwlockInputTest, AThreadHasNoMoreReadersThanTheKernelFrees) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer stops a thread that has more than 64 mutexes";
#endif
  constexpr unsigned kReaders = 2100;
  const Segment segment(weft_rwlock_size(kReaders));
  ASSERT_EQ(weft_rwlock_create(segment.memory(), segment.bytes(), kReaders, 0), 0);
  weft_rwlock* lock = nullptr;
  ASSERT_EQ(weft_rwlock_attach(&lock, segment.memory(), segment.bytes()), 0);
  std::thread([&] {
#ifdef __SANITIZE_ADDRESS__
    const __lsan::ScopedDisabler
        leaves_a_list;  // a thread that dies as the owner of many gives its list back to nobody
#endif
    weft_rwlock_reader* reader = nullptr;
    for (unsigned i = 0; i < kMostLeases; ++i) ASSERT_EQ(weft_rwlock_register(&reader, lock), 0) << i;
    weft_rwlock_reader* none = nullptr;
    EXPECT_EQ(weft_rwlock_register(&none, lock), EAGAIN);
    EXPECT_TRUE(says("2048")) << weft_shm_error();
    EXPECT_EQ(weft_rwlock_unregister(reader), 0);
    EXPECT_EQ(weft_rwlock_register(&reader, lock), 0);
    EXPECT_EQ(result_of(spawn([&] { return weft_rwlock_register(&none, lock); })), 0) << "the child has none";
    std::thread([&] { EXPECT_EQ(weft_rwlock_register(&none, lock), 0) << "another thread has none"; }).join();
  }).join();
  EXPECT_EQ(weft_rwlock_destroy(lock), 0) << "the kernel has freed all";
  EXPECT_EQ(weft_rwlock_detach(lock), 0);
}

TEST(RwlockInputTest, MemoryThatCannotBeReadOrWrittenIsNoCrash) {
  const size_t bytes = weft_rwlock_size(4);
  const Segment segment(bytes);
  weft_rwlock* lock = nullptr;
  ASSERT_EQ(weft_rwlock_create(segment.memory(), bytes, 4, 0), 0);
  ASSERT_EQ(mprotect(segment.memory(), bytes, PROT_READ), 0);
  EXPECT_EQ(weft_rwlock_attach(&lock, segment.memory(), bytes), EACCES);
  EXPECT_TRUE(says("PROT_WRITE")) << weft_shm_error();
  EXPECT_EQ(weft_rwlock_create(segment.memory(), bytes, 4, 0), EACCES);
  ASSERT_EQ(mprotect(segment.memory(), bytes, PROT_NONE), 0);
  EXPECT_EQ(weft_rwlock_attach(&lock, segment.memory(), bytes), EACCES);
}

TEST(RwlockInputTest, ThatIsFoundWithoutFileDescriptors) {
  const size_t bytes = weft_rwlock_size(4);
  const Segment segment(bytes);
  ASSERT_EQ(weft_rwlock_create(segment.memory(), bytes, 4, 0), 0);
  EXPECT_EQ(result_of(spawn([&] {
              const rlimit none{0, 0};
              weft_rwlock* lock = nullptr;
              if (setrlimit(RLIMIT_NOFILE, &none) != 0) return 1;
              if (weft_rwlock_attach(&lock, segment.memory(), bytes) != 0) return 2;
              mprotect(segment.memory(), bytes, PROT_READ);
              if (weft_rwlock_attach(&lock, segment.memory(), bytes) != EACCES) return 3;
              if (weft_rwlock_create(segment.memory(), bytes, 4, 0) != EACCES || !says("df /dev/shm")) return 4;
              mprotect(segment.memory(), bytes, PROT_NONE);
              return weft_rwlock_attach(&lock, segment.memory(), bytes) == EACCES ? 0 : 5;
            })),
            0);
}

TEST(RwlockInputTest, AFileThatWasCutOffIsNoCrash) {
  const size_t bytes = weft_rwlock_size(4096);
  const int file = memfd_create("rwlock_test", 0);
  ASSERT_EQ(ftruncate(file, static_cast<off_t>(bytes)), 0);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(memory, MAP_FAILED);
  weft_rwlock* lock = nullptr;
  ASSERT_EQ(weft_rwlock_create(memory, bytes, 4096, 0), 0);
  ASSERT_EQ(ftruncate(file, 4096), 0);
  EXPECT_EQ(weft_rwlock_attach(&lock, memory, bytes), EACCES);
  EXPECT_EQ(weft_rwlock_create(memory, bytes, 4096, 0), EACCES);
  ASSERT_EQ(ftruncate(file, 0), 0);
  EXPECT_EQ(weft_rwlock_attach(&lock, memory, bytes), EACCES);
  close(file);
  munmap(memory, bytes);
}

// A process that something else writes into gets errors or wrong answers, and lives.
TEST(RwlockInputTest, WhatIsWrittenThereLaterIsNoCrash) {
  constexpr unsigned kReaders = 3;
  const size_t bytes = weft_rwlock_size(kReaders);
  const Segment segment(bytes);
  constexpr uint32_t kValues[] = {0, 1, 2, 0x40000000, 0x80000000, 0xffffffff, 123456789};
  for (size_t at = 0; at < bytes; at += 4) {
    const pid_t child = spawn([&] {
      for (const uint32_t value : kValues) {
        const bool locked = value % 2 != 0;
        weft_rwlock* lock = nullptr;
        weft_rwlock_reader* reader = nullptr;
        if (weft_rwlock_create(segment.memory(), bytes, kReaders, 0) != 0) return 1;
        if (weft_rwlock_attach(&lock, segment.memory(), bytes) != 0) return 2;
        if (weft_rwlock_register(&reader, lock) != 0) return 3;
        if (locked && weft_rwlock_rdlock(reader) != 0) return 4;
        std::memcpy(segment.as<char>() + at, &value, sizeof value);
        if (locked) weft_rwlock_rdunlock(reader);
        const timespec soon = in_ms(1);
        if (weft_rwlock_timedrdlock(reader, &soon) == 0) weft_rwlock_rdunlock(reader);
        weft_rwlock_tryrdlock(reader);
        weft_rwlock_rdunlock(reader);
        if (weft_rwlock_trywrlock(lock) == 0) weft_rwlock_wrunlock(lock);
        weft_rwlock_timedwrlock(lock, &soon);
        weft_rwlock_consistent(lock);
        weft_rwlock_wrunlock(lock);
        weft_rwlock_unregister(reader);
        weft_rwlock_destroy(lock);
        weft_rwlock_detach(lock);
        weft_rwlock_attach(&lock, segment.memory(), bytes);
      }
      return 0;
    });
    EXPECT_EQ(result_of(child), 0) << "at " << at;
  }
}

// From now on membarrier(2) is refused to this process.
bool take_membarrier_away() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(RwlockInputTest, WithoutMembarrierAProcessReadsAndSaysWhyItCannotWrite) {
  const size_t bytes = weft_rwlock_size(4);
  const Segment segment(bytes);
  ASSERT_EQ(weft_rwlock_create(segment.memory(), bytes, 4, 0), 0);
  weft_rwlock* lock = nullptr;
  ASSERT_EQ(weft_rwlock_attach(&lock, segment.memory(), bytes), 0);
  weft_rwlock_reader* reader = nullptr;
  ASSERT_EQ(weft_rwlock_register(&reader, lock), 0);
  const auto go_in_and_out = [](weft_rwlock_reader* by) {
    return weft_rwlock_tryrdlock(by) == 0 && weft_rwlock_rdunlock(by) == 0;
  };
  EXPECT_TRUE(go_in_and_out(reader));
  EXPECT_EQ(result_of(spawn([&] {
              if (!take_membarrier_away()) return 1;
              if (weft_rwlock_wrlock(lock) != ENOSYS || !says("WEFT_RWLOCK_PORTABLE")) return 2;
              weft_rwlock* later = nullptr;
              if (weft_rwlock_attach(&later, segment.memory(), bytes) != 0) return 3;
              if (weft_rwlock_wrlock(later) != ENOSYS || weft_rwlock_trywrlock(later) != ENOSYS) return 4;
              weft_rwlock_reader* mine = nullptr;
              if (weft_rwlock_register(&mine, later) != 0) return 5;
              return go_in_and_out(mine) && go_in_and_out(mine) ? 0 : 6;
            })),
            0);
  EXPECT_TRUE(go_in_and_out(reader)) << "nothing was locked";
  EXPECT_EQ(weft_rwlock_wrlock(lock), 0);
  EXPECT_EQ(weft_rwlock_wrunlock(lock), 0);
  EXPECT_EQ(result_of(spawn([&] {
              if (!take_membarrier_away()) return 1;
              if (weft_rwlock_create(segment.memory(), bytes, 4, 0) != 0) return 2;
              weft_rwlock* made = nullptr;
              if (weft_rwlock_attach(&made, segment.memory(), bytes) != 0) return 3;
              return weft_rwlock_wrlock(made) + weft_rwlock_wrunlock(made);
            })),
            0)
      << "made without, it relies on none";
}

TEST(RwlockInputTest, AnAttachmentAtAnotherAddressIsTheSameLock) {
  const size_t bytes = weft_rwlock_size(4);
  const Segment segment(bytes);
  ASSERT_EQ(weft_rwlock_create(segment.memory(), bytes, 4, 0), 0);
  void* const again = segment.map();
  weft_rwlock* one = nullptr;
  weft_rwlock* two = nullptr;
  ASSERT_EQ(weft_rwlock_attach(&one, segment.memory(), bytes), 0);
  ASSERT_EQ(weft_rwlock_attach(&two, again, bytes), 0);
  ASSERT_EQ(weft_rwlock_wrlock(one), 0);
  std::thread([&] { EXPECT_EQ(weft_rwlock_trywrlock(two), EBUSY); }).join();
  EXPECT_EQ(weft_rwlock_wrunlock(one), 0);
  EXPECT_EQ(weft_rwlock_trywrlock(two), 0);
  EXPECT_EQ(weft_rwlock_wrunlock(two), 0);
  EXPECT_EQ(weft_rwlock_detach(one), 0);
  EXPECT_EQ(weft_rwlock_detach(two), 0);
  munmap(again, bytes);
}

}  // namespace

}  // namespace weft::shm::test
