// SPDX-License-Identifier: Apache-2.0
// Nothing else is included before it: the standard's guards come with it.
#include "weft/rwlock.hpp"

#include <csignal>
#include <stdexcept>

#include <gtest/gtest.h>

#include "segment.h"

namespace weft::shm::test {

namespace {

class RwlockInCxxTest : public testing::Test {
 protected:
  RwlockInCxxTest() : segment_(RwLock::size(2)) { RwLock::create(segment_.memory(), segment_.bytes(), 2); }

  // A child that is killed while it has the write lock.
  void kill_a_writer() const {
    const pid_t child = spawn([&] {
      RwLock lock(segment_.memory(), segment_.bytes());
      lock.lock();
      return raise(SIGKILL);
    });
    ASSERT_EQ(result_of(child), -SIGKILL);
  }

  Segment segment_;
};

int error_of(RwLock::Reader& reader) {
  try {
    reader.lock_shared();
  } catch (const ShmError& error) {
    return error.code().value();
  }
  reader.unlock_shared();
  return 0;
}

TEST_F(RwlockInCxxTest, AReaderMendsWhatAKilledWriterLeaves) {
  int mended = 0;
  RwLock lock(segment_.memory(), segment_.bytes(), [&] { ++mended; });
  RwLock::Reader reader(lock);
  kill_a_writer();
  {
    const std::shared_lock guard(reader);
  }
  EXPECT_EQ(mended, 1);
  kill_a_writer();
  // The first one that only tries may just find out that the writer is dead.
  ASSERT_TRUE(reader.try_lock_shared() || reader.try_lock_shared());
  reader.unlock_shared();
  EXPECT_EQ(mended, 2);
  kill_a_writer();
  {
    const std::shared_lock guard(reader, std::chrono::seconds(60));
  }
  EXPECT_EQ(mended, 3);
  {
    const std::unique_lock guard(lock);
  }
  EXPECT_EQ(mended, 3);
}

TEST_F(RwlockInCxxTest, AReaderThatCannotMendLeavesThatToOthers) {
  RwLock lock(segment_.memory(), segment_.bytes());
  RwLock::Reader reader(lock);
  kill_a_writer();
  EXPECT_EQ(error_of(reader), EOWNERDEAD);
  EXPECT_EQ(error_of(reader), EOWNERDEAD);
  {
    RwLock mending(segment_.memory(), segment_.bytes(), [] {});
    const std::unique_lock guard(mending);
  }
  EXPECT_EQ(error_of(reader), 0);
}

TEST_F(RwlockInCxxTest, AReaderWhoseMendThrowsGivesTheLockUp) {
  RwLock lock(segment_.memory(), segment_.bytes(), [] { throw std::runtime_error("cannot be mended"); });
  RwLock::Reader reader(lock);
  kill_a_writer();
  EXPECT_THROW(reader.lock_shared(), std::runtime_error);
  EXPECT_EQ(error_of(reader), ENOTRECOVERABLE);
}

}  // namespace

}  // namespace weft::shm::test
