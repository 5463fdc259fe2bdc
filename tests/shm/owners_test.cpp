// SPDX-License-Identifier: Apache-2.0
// Owners that are no more although the kernel has marked nothing: those of a copy, of another boot, of a file that had
// the same number; and those whose marks something has hidden.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <csignal>
#include <ctime>

#include <gtest/gtest.h>

#include "segment.h"
#include "shm/kv/layout.h"
#include "shm/rwlock/layout.h"
#include "shm/segment/home.h"
#include "shm/sync/ops.h"
#include "shm/sync/owner_list.h"
#include "shm/sync/robust.h"
#include "weft/kv.h"
#include "weft/rwlock.h"

namespace weft::shm::test {

namespace {

using KvOfReal = KvLayout<RealOps>;
using RwlockOfReal = RwlockLayout<RealOps>;

bool says(const std::string& part) { return std::string(weft_shm_error()).find(part) != std::string::npos; }

void rest_ms(long ms) {
  const timespec rest{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&rest, nullptr);
}

// A store that a child writes into, which is stopped while it has it.
class CopiedStoreTest : public testing::Test {
 protected:
  static constexpr size_t kBytes = size_t{8} << 20;
  static constexpr timespec kShort{0, 30'000'000};
  static constexpr Home kBorn = Home{0xff} << 28, kBoot = ~Home{0} << 36;

  CopiedStoreTest() : path_("/dev/shm/weft-owners-test-" + std::to_string(getpid())), copy_(path_ + "-copy") {
    remove_both();
    kv_ = open(path_);
    EXPECT_EQ(put(kv_, "stays"), 0);
    writer_ = spawn([&] {
      const std::string value(size_t{1} << 20, 'v');
      for (;;) weft_kv_put(kv_, "long", 4, value.data(), value.size(), nullptr);
      return 0;
    });
    EXPECT_EQ(weft_kv_set_timeout(kv_, &kShort), 0);
    // Until it is stopped with the store in its hands.
    for (;;) {
      rest_ms(1);
      kill(writer_, SIGSTOP);
      if (put(kv_, "try") == ETIMEDOUT) break;
      kill(writer_, SIGCONT);
    }
  }
  ~CopiedStoreTest() override {
    end_writer();
    weft_kv_close(kv_);
    remove_both();
  }

  weft_kv* open(const std::string& path, unsigned flags = WEFT_KV_CREATE) {
    weft_kv* kv = nullptr;
    EXPECT_EQ(weft_kv_open(&kv, path.c_str(), (flags & WEFT_KV_CREATE) != 0 ? kBytes : 0, flags), 0)
        << weft_shm_error();
    return kv;
  }
  static int put(weft_kv* kv, const std::string& key) {
    return weft_kv_put(kv, key.data(), key.size(), "here", 4, nullptr);
  }
  static uint64_t recoveries(weft_kv* kv) {
    weft_kv_stat stat{};
    weft_kv_stat_get(kv, &stat);
    return stat.recoveries;
  }
  void end_writer() {
    if (writer_ == 0) return;
    kill(writer_, SIGKILL);
    result_of(writer_);
    writer_ = 0;
  }
  void copy() const {
    const int from = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    const int to = ::open(copy_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    std::vector<char> bytes(kBytes);
    ASSERT_EQ(pread(from, bytes.data(), kBytes, 0), static_cast<ssize_t>(kBytes));
    ASSERT_EQ(pwrite(to, bytes.data(), kBytes, 0), static_cast<ssize_t>(kBytes));
    close(from);
    close(to);
  }
  // What is known of where the copy is.
  Home home_of_copy() const {
    const int file = ::open(copy_.c_str(), O_RDWR | O_CLOEXEC);
    const Home here = home_of_file(file);
    close(file);
    return here;
  }
  // What the copy is at home in, and its owner of, after `change` of what it would be here.
  void rewrite_home(Home change) const {
    const Home home = home_of_copy() ^ change;
    const int file = ::open(copy_.c_str(), O_RDWR | O_CLOEXEC);
    const uint64_t owner = owner_word::of(static_cast<uint32_t>(getpid()), era_of(home), 77);
    ASSERT_EQ(pwrite(file, &home, sizeof home, offsetof(Header, home)), 8);
    ASSERT_EQ(pwrite(file, &owner, sizeof owner, offsetof(KvOfReal, writer)), 8);
    close(file);
  }
  void expect_to_be_taken() {
    weft_kv* const kv = open(copy_, 0);
    EXPECT_EQ(weft_kv_set_timeout(kv, &kShort), 0);
    EXPECT_EQ(put(kv, "new"), 0) << weft_shm_error();
    EXPECT_EQ(recoveries(kv), 1u);
    char value[4];
    EXPECT_EQ(weft_kv_get(kv, "stays", 5, value, sizeof value, nullptr, nullptr), 0);
    EXPECT_EQ(weft_kv_close(kv), 0);
  }

  void remove_both() const {
    unlink(path_.c_str());
    unlink(copy_.c_str());
  }

  const std::string path_;
  const std::string copy_;
  weft_kv* kv_ = nullptr;
  pid_t writer_ = 0;
};

TEST_F(CopiedStoreTest, ACopyIsNobodysAndTheFirstIsStillItsOwners) {
  copy();
  expect_to_be_taken();
  EXPECT_EQ(put(kv_, "other"), ETIMEDOUT);
  EXPECT_TRUE(says("process " + std::to_string(writer_) + " (")) << weft_shm_error();
  EXPECT_TRUE(says("CONT")) << weft_shm_error();
  EXPECT_EQ(weft_kv_delete(kv_, "stays", 5), ETIMEDOUT);
  weft_kv* const again = open(path_, 0);
  EXPECT_EQ(weft_kv_set_timeout(again, &kShort), 0);
  EXPECT_EQ(put(again, "other"), ETIMEDOUT) << "it was opened where it is at home";
  EXPECT_EQ(weft_kv_close(again), 0);
  kill(writer_, SIGCONT);
  EXPECT_EQ(weft_kv_set_timeout(kv_, nullptr), 0);
  EXPECT_EQ(put(kv_, "other"), 0) << "it waits as long as it takes";
  EXPECT_EQ(recoveries(kv_), 0u);
}

TEST_F(CopiedStoreTest, SoIsAStoreThatWasHereBeforeTheLastBoot) {
  copy();
  if ((home_of_copy() & kBoot) == 0) GTEST_SKIP() << "/proc does not say when this machine was booted";
  rewrite_home(Home{1} << 40);
  expect_to_be_taken();
}

TEST_F(CopiedStoreTest, AndOneWhoseNumberAnotherFileHad) {
  copy();
  if ((home_of_copy() & kBorn) == 0) GTEST_SKIP() << "this kernel does not say when a file in memory was made";
  rewrite_home(Home{1} << 30);
  expect_to_be_taken();
}

TEST_F(CopiedStoreTest, WhatIsNotKnownOfAHomeSaysNothing) {
  copy();
  rewrite_home(home_of_copy() & (kBoot | kBorn));  // takes those parts away
  weft_kv* const kv = open(copy_, 0);
  EXPECT_EQ(weft_kv_set_timeout(kv, &kShort), 0);
  EXPECT_EQ(put(kv, "new"), ETIMEDOUT);
  EXPECT_EQ(weft_kv_close(kv), 0);
}

TEST_F(CopiedStoreTest, WhoOnlyReadsLeavesACopyAsItIs) {
  copy();
  weft_kv* const kv = open(copy_, WEFT_KV_READ_ONLY);
  char value[4];
  EXPECT_EQ(weft_kv_get(kv, "stays", 5, value, sizeof value, nullptr, nullptr), 0);
  EXPECT_EQ(weft_kv_close(kv), 0);
  expect_to_be_taken();
}

TEST_F(CopiedStoreTest, ATimeMustBeOne) {
  constexpr timespec kWrong{0, 1'000'000'000};
  constexpr timespec kNegative{-1, 0};
  constexpr timespec kNone{0, 0};
  EXPECT_EQ(weft_kv_set_timeout(kv_, &kWrong), EINVAL);
  EXPECT_EQ(weft_kv_set_timeout(kv_, &kNegative), EINVAL);
  EXPECT_EQ(weft_kv_set_timeout(nullptr, &kNone), EINVAL);
  EXPECT_EQ(weft_kv_set_timeout(kv_, &kNone), 0);
  EXPECT_EQ(put(kv_, "other"), ETIMEDOUT);
}

TEST_F(CopiedStoreTest, AStoreOfTheLayoutBeforeIsRefusedWithTheWayOut) {
  copy();
  const int file = ::open(copy_.c_str(), O_RDWR | O_CLOEXEC);
  constexpr uint32_t kBefore = kKvLayout - 1;
  ASSERT_EQ(pwrite(file, &kBefore, sizeof kBefore, offsetof(Header, layout)), 4);
  close(file);
  weft_kv* kv = nullptr;
  EXPECT_EQ(weft_kv_open(&kv, copy_.c_str(), 0, 0), EPROTO);
  EXPECT_TRUE(says("another version") && says("make it anew")) << weft_shm_error();
}

// ---- locks ----

struct Attached {
  explicit Attached(const Segment& segment) {
    EXPECT_EQ(weft_rwlock_attach(&lock, segment.memory(), segment.bytes()), 0) << weft_shm_error();
  }
  weft_rwlock_reader* enrol() const {
    weft_rwlock_reader* reader = nullptr;
    EXPECT_EQ(weft_rwlock_register(&reader, lock), 0) << weft_shm_error();
    return reader;
  }
  weft_rwlock* lock = nullptr;
};

constexpr unsigned kReaders = 4;

TEST(CopiedLockTest, ACopyOfALockIsNobodys) {
  const Segment segment(weft_rwlock_size(kReaders));
  const Segment copied_in(weft_rwlock_size(kReaders)), copied_out(weft_rwlock_size(kReaders));
  const Segment steps(sizeof(std::atomic<int>));
  auto& step = *steps.as<std::atomic<int>>();
  ASSERT_EQ(weft_rwlock_create(segment.memory(), segment.bytes(), kReaders, 0), 0);
  const auto wait_for = [&](int wanted) {
    while (step < wanted) rest_ms(1);
  };
  const pid_t child = spawn([&] {
    const Attached attached(segment);
    weft_rwlock_reader* const reader = attached.enrol();
    if (weft_rwlock_rdlock(reader) != 0) return 1;
    step = 1;
    wait_for(2);
    if (weft_rwlock_rdunlock(reader) != 0 || weft_rwlock_wrlock(attached.lock) != 0) return 2;
    step = 3;
    wait_for(4);
    return weft_rwlock_wrunlock(attached.lock);
  });
  wait_for(1);
  std::memcpy(copied_in.memory(), segment.memory(), segment.bytes());
  step = 2;
  wait_for(3);
  std::memcpy(copied_out.memory(), segment.memory(), segment.bytes());
  {
    const Attached attached(segment);
    EXPECT_EQ(weft_rwlock_trywrlock(attached.lock), EBUSY) << "here it is its owner's";
    EXPECT_EQ(weft_rwlock_detach(attached.lock), 0);
  }
  const Attached read(copied_in);
  EXPECT_EQ(weft_rwlock_wrlock(read.lock), 0) << "its reader reads another one";
  EXPECT_EQ(weft_rwlock_wrunlock(read.lock), 0);
  EXPECT_EQ(weft_rwlock_destroy(read.lock), 0);
  EXPECT_EQ(weft_rwlock_detach(read.lock), 0);
  const Attached written(copied_out);
  EXPECT_EQ(weft_rwlock_wrlock(written.lock), EOWNERDEAD) << "what it guards was copied while it was written";
  EXPECT_EQ(weft_rwlock_consistent(written.lock), 0);
  EXPECT_EQ(weft_rwlock_wrunlock(written.lock), 0);
  weft_rwlock_reader* const reader = written.enrol();
  EXPECT_EQ(weft_rwlock_rdlock(reader), 0);
  EXPECT_EQ(weft_rwlock_rdunlock(reader), 0);
  EXPECT_EQ(weft_rwlock_unregister(reader), 0);
  EXPECT_EQ(weft_rwlock_detach(written.lock), 0);
  step = 4;
  EXPECT_EQ(result_of(child), 0);
}

// The kernel comes no further than to the link that was overwritten, and marks nothing behind it.
TEST(HiddenDeathTest, WhatIsWrittenOverALinkHidesNoDeath) {
  const Segment first(weft_rwlock_size(kReaders)), second(weft_rwlock_size(kReaders));
  const Segment steps(sizeof(std::atomic<int>));
  auto& step = *steps.as<std::atomic<int>>();
  for (const Segment* segment : {&first, &second}) {
    ASSERT_EQ(weft_rwlock_create(segment->memory(), segment->bytes(), kReaders, 0), 0);
  }
  const pid_t child = spawn([&] {
    const Attached one(first), two(second);
    one.enrol();
    if (weft_rwlock_rdlock(two.enrol()) != 0 || weft_rwlock_wrlock(one.lock) != 0) return 1;
    step = 1;
    for (;;) pause();
  });
  while (step == 0) rest_ms(1);
  auto* const lease = reinterpret_cast<std::atomic<uint64_t>*>(&first.as<RwlockOfReal>()->record[0].lease);
  constexpr size_t kLink = 4;  // its words before that
  EXPECT_NE(lease[kLink], 0u);
  lease[kLink] = 0x123456789abcdef0;
  kill(child, SIGKILL);
  EXPECT_EQ(result_of(child), -SIGKILL);
  const Attached one(first), two(second);
  EXPECT_EQ(weft_rwlock_wrlock(two.lock), 0);
  EXPECT_EQ(weft_rwlock_wrunlock(two.lock), 0);
  EXPECT_EQ(weft_rwlock_wrlock(one.lock), EOWNERDEAD);
  EXPECT_EQ(weft_rwlock_consistent(one.lock), 0);
  EXPECT_EQ(weft_rwlock_wrunlock(one.lock), 0);
  for (const Attached& attached : {one, two}) {
    EXPECT_EQ(weft_rwlock_destroy(attached.lock), 0);
    EXPECT_EQ(weft_rwlock_detach(attached.lock), 0);
  }
}

// A program's own robust mutexes are in the same list, before and behind what is this library's, and come and go.
TEST(HiddenDeathTest, TheProgramsOwnRobustMutexesShareTheList) {
  constexpr int kMutexes = 6, kOwned = 6, kRounds = 25;
  struct Shared {
    std::array<pthread_mutex_t, kMutexes> mutexes;
    std::array<Robust, kOwned> owned;
    std::array<std::atomic<bool>, kMutexes> has_mutex;
    std::array<std::atomic<bool>, kOwned> has_owned;
  };
  constexpr uint32_t kEra = 3;
  for (int round = 0; round < kRounds; ++round) {
    const Segment segment(sizeof(Shared));
    Shared& shared = *segment.as<Shared>();
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    for (pthread_mutex_t& mutex : shared.mutexes) ASSERT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
    pthread_mutexattr_destroy(&attributes);
    for (Robust& robust : shared.owned) robust.make();
    const pid_t child = spawn([&] {
      std::mt19937 random(static_cast<unsigned>(round));
      for (int i = 0; i < 300; ++i) {
        const size_t at = random() % kMutexes;
        const bool is_mutex = random() % 2 == 0;
        std::atomic<bool>& has = is_mutex ? shared.has_mutex[at] : shared.has_owned[at];
        if (is_mutex) {
          if ((has ? pthread_mutex_unlock(&shared.mutexes[at]) : pthread_mutex_lock(&shared.mutexes[at])) != 0)
            return 1;
        } else if (has) {
          shared.owned[at].give(kEra, Hold::long_term);
        } else if (shared.owned[at].try_take(kEra, Hold::long_term) != Taken::yes) {
          return 2;
        }
        has = !has;
      }
      return kill(getpid(), SIGKILL);
    });
    ASSERT_EQ(result_of(child), -SIGKILL);
    for (size_t i = 0; i < kMutexes; ++i) {
      EXPECT_EQ(pthread_mutex_trylock(&shared.mutexes[i]), shared.has_mutex[i] ? EOWNERDEAD : 0);
      EXPECT_EQ(pthread_mutex_unlock(&shared.mutexes[i]), 0);
      EXPECT_EQ(shared.owned[i].try_take(kEra, Hold::briefly), shared.has_owned[i] ? Taken::after_death : Taken::yes);
      shared.owned[i].give(kEra, Hold::briefly);
    }
    EXPECT_EQ(OwnerList::own().count(), 0u);
  }
}

// Where the kernel marks nothing, as under some emulators, who waits looks at the process.
TEST(HiddenDeathTest, WithoutMarksTheProcessIsLookedAt) {
  const Segment segment(sizeof(Robust) * 2);
  auto* const owned = segment.as<Robust>();
  constexpr uint32_t kEra = 3;
  owned[0].make();
  owned[1].make();
  const pid_t child = spawn([&] {
    owned[0].try_take(kEra, Hold::long_term);
    owned[1].try_take(kEra, Hold::briefly);
    syscall(SYS_set_robust_list, nullptr, 24);
    return kill(getpid(), SIGKILL);
  });
  ASSERT_EQ(result_of(child), -SIGKILL);
  EXPECT_EQ(owned[0].try_take(kEra, Hold::briefly), Taken::no) << "this test sees no marks";
  EXPECT_EQ(owned[0].owner().process.pid, child);
  EXPECT_EQ(owned[0].take(kEra, Hold::briefly, kForever), Taken::after_death);
  EXPECT_EQ(owned[1].try_take(kEra, Hold::long_term, Look::process), Taken::after_death);
  owned[1].give(kEra, Hold::long_term);
  owned[0].give(kEra, Hold::briefly);
}

TEST(HiddenDeathTest, AnOwnerThatLivesIsNotTakenForDead) {
  const Segment segment(sizeof(Robust));
  const Segment steps(sizeof(std::atomic<int>));
  auto& step = *steps.as<std::atomic<int>>();
  auto& owned = *segment.as<Robust>();
  constexpr uint32_t kEra = 3;
  owned.make();
  const pid_t child = spawn([&] {
    owned.try_take(kEra, Hold::long_term);
    step = 1;
    while (step == 1) rest_ms(1);
    owned.give(kEra, Hold::long_term);
    return 0;
  });
  while (step == 0) rest_ms(1);
  kill(child, SIGSTOP);
  EXPECT_EQ(owned.try_take(kEra, Hold::briefly, Look::process), Taken::no);
  kill(child, SIGCONT);
  step = 2;
  EXPECT_EQ(owned.take(kEra, Hold::briefly, kForever), Taken::yes);
  owned.give(kEra, Hold::briefly);
  EXPECT_EQ(result_of(child), 0);
}

}  // namespace

}  // namespace weft::shm::test
