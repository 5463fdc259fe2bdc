// SPDX-License-Identifier: Apache-2.0
// The file: what is accepted, who removes it, and what remains of processes that are killed.
#include <fstream>
#include <memory>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "node/status.h"
#include "node_fixture.h"

namespace {

using namespace weft::node;

class SegmentTest : public NodeTest {
 protected:
  std::string refusal() {
    Reason reason;
    const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::make, reason));
    EXPECT_EQ(segment, nullptr);
    return reason.text;
  }
  void write(const std::string& text) { std::ofstream(path(), std::ios::binary) << text; }
};

TEST_F(SegmentTest, FirstMakesAndLastRemoves) {
  Member* first = join({.most = 2, .cpus = cpus(0, 2)});
  ASSERT_NE(first, nullptr);
  Member* second = join({.most = 2, .cpus = cpus(0, 2)});
  ASSERT_NE(second, nullptr);
  struct stat file{};
  ASSERT_EQ(stat(path(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  first->leave();
  EXPECT_TRUE(exists());
  second->leave();
  EXPECT_FALSE(exists());
  EXPECT_EQ(first->take(), -1);
}

TEST_F(SegmentTest, RefusesWhatIsNoSegment) {
  write("nonsense that is long enough for a header");
  EXPECT_NE(refusal().find("holds something else"), std::string::npos);
  write("");
  EXPECT_NE(refusal().find("holds something else"), std::string::npos);
  write(std::string(sizeof(Layout), '\xff'));
  EXPECT_NE(refusal().find("weft node reset"), std::string::npos);
  unlink(path());
  mkdir(path(), 0700);
  EXPECT_NE(refusal(), "");
  rmdir(path());
  ASSERT_EQ(symlink("/dev/null", path()), 0);
  EXPECT_NE(refusal(), "");
}

TEST_F(SegmentTest, RefusesOtherLayoutsAndSizes) {
  Member* member = join({.most = 1, .cpus = cpus(0, 1)});
  ASSERT_NE(member, nullptr);
  const int file = open(path(), O_RDWR);
  const uint32_t layout = kLayout + 1;
  ASSERT_EQ(pwrite(file, &layout, sizeof layout, offsetof(Header, layout)), static_cast<ssize_t>(sizeof layout));
  EXPECT_NE(refusal().find("another version"), std::string::npos);
  ASSERT_EQ(pwrite(file, &kLayout, sizeof kLayout, offsetof(Header, layout)), static_cast<ssize_t>(sizeof kLayout));
  ASSERT_EQ(ftruncate(file, sizeof(Layout) / 2), 0);
  EXPECT_NE(refusal().find("another version"), std::string::npos);
  close(file);
}

TEST_F(SegmentTest, RefusesWhatOthersCanWrite) {
  write("x");
  chmod(path(), 0666);
  EXPECT_NE(refusal().find("this user alone"), std::string::npos);
}

TEST_F(SegmentTest, FolderMissing) {
  Reason reason;
  EXPECT_EQ(Segment::open("/nowhere/at/all", Segment::Missing::make, reason), nullptr);
  EXPECT_NE(std::string(reason.text), "");
}

TEST_F(SegmentTest, LimitedFileSize) {
  const pid_t child = run_child([this] {
    const rlimit small{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &small);
    return refusal().find("ulimit -f") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(wait_for(child), 0);
}

// Whoever has it mapped must survive that it is cut off, and know.
TEST_F(SegmentTest, CutOffWhileInUse) {
  Member* member = join({.most = 2, .cpus = cpus(0, 2)});
  ASSERT_NE(member, nullptr);
  EXPECT_GE(member->take(), 0);
  EXPECT_FALSE(member->lost());
  ASSERT_EQ(truncate(path(), 0), 0);
  member->take();
  member->want(1);
  member->give(0);
  EXPECT_TRUE(member->lost());
  member->leave();
}

TEST_F(SegmentTest, LockOfAKilledHolder) {
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::make, reason));
  ASSERT_NE(segment, nullptr) << reason.text;
  const pid_t child = run_child([&] {
    segment->lock();
    raise(SIGKILL);
    return 1;
  });
  EXPECT_EQ(wait_for(child), -SIGKILL);
  ASSERT_TRUE(segment->lock());
  segment->unlock();
  ASSERT_TRUE(segment->lock());
  segment->close_and_remove();
  segment->unlock();
  EXPECT_FALSE(exists());
}

TEST_F(SegmentTest, LockOfAStoppedHolder) {
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::make, reason));
  ASSERT_NE(segment, nullptr) << reason.text;
  ASSERT_TRUE(segment->lock());
  const pid_t child = run_child([&] {
    Reason why;
    const bool joined = Member::join(path(), {.most = 1, .cpus = cpus(0, 1)}, why) != nullptr;
    return !joined && std::string(why.text).find("locked") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(wait_for(child), 0);
  segment->unlock();
}

TEST_F(SegmentTest, LeftBehindByTheLastThatIsKilled) {
  const pid_t child = run_child([this] {
    Member* member = join({.most = 2, .cpus = cpus(0, 2)});
    if (member == nullptr || member->take() < 0 || member->take() < 0) return 1;
    raise(SIGKILL);
    return 1;
  });
  EXPECT_EQ(wait_for(child), -SIGKILL);
  EXPECT_TRUE(exists());
  // The next user finds a valid file and cleans up.
  NodeStatus status;
  Reason reason;
  ASSERT_TRUE(read_status(path(), status, reason)) << reason.text;
  EXPECT_EQ(status.slots_freed, 2);
  EXPECT_TRUE(status.processes.empty());
  EXPECT_FALSE(exists());
}

TEST_F(SegmentTest, Reset) {
  Reason reason;
  int live = 0;
  EXPECT_EQ(reset(path(), false, live, reason), Reset::nothing);
  write("nonsense");
  EXPECT_EQ(reset(path(), false, live, reason), Reset::removed);
  Member* member = join({.most = 1, .cpus = cpus(0, 1)});
  ASSERT_NE(member, nullptr);
  EXPECT_EQ(reset(path(), false, live, reason), Reset::refused);
  EXPECT_EQ(live, 1);
  EXPECT_FALSE(member->lost());
  EXPECT_EQ(reset(path(), true, live, reason), Reset::removed);
  EXPECT_TRUE(member->lost());
  EXPECT_FALSE(exists());
  member->leave();
}

}  // namespace
