// SPDX-License-Identifier: Apache-2.0
// The file: what is accepted, who removes it, and what remains of processes that are killed.
#include <climits>
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
  void TearDown() override {}  // files remain that are no segments any more

  std::string refusal() {
    Reason reason;
    const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::make, reason));
    EXPECT_EQ(segment, nullptr);
    return reason.text;
  }
  void write(const std::string& text) { std::ofstream(path(), std::ios::binary) << text; }
};

TEST_F(SegmentTest, FirstMakesAndLastRemoves) {
  Process* first = join({.most = 2, .cpus = cpus(0, 2)});
  ASSERT_NE(first, nullptr);
  Process* second = join({.most = 2, .cpus = cpus(0, 2)});
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
  Process* process = join({.most = 1, .cpus = cpus(0, 1)});
  ASSERT_NE(process, nullptr);
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
  Process* process = join({.most = 2, .cpus = cpus(0, 2)});
  ASSERT_NE(process, nullptr);
  EXPECT_GE(process->take(), 0);
  EXPECT_FALSE(process->lost());
  ASSERT_EQ(truncate(path(), 0), 0);
  process->take();
  process->want(1);
  process->give(0);
  EXPECT_TRUE(process->lost());
  process->leave();
}

TEST_F(SegmentTest, LockOfAKilledHolder) {
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::make, reason));
  ASSERT_NE(segment, nullptr) << reason.text;
  const pid_t child = run_child([&] {
    if (!segment->sit() || !segment->lock()) return 1;
    raise(SIGKILL);
    return 1;
  });
  EXPECT_EQ(wait_for(child), -SIGKILL);
  EXPECT_FALSE(segment->lock()) << "who has no seat cannot be told from the dead";
  ASSERT_TRUE(segment->sit());
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
  ASSERT_TRUE(segment->sit());
  ASSERT_TRUE(segment->lock());
  const pid_t child = run_child([&] {
    Reason why;
    const bool joined = Process::join(path(), {.most = 1, .cpus = cpus(0, 1)}, why) != nullptr;
    return !joined && std::string(why.text).find("locked") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(wait_for(child), 0);
  segment->unlock();
}

TEST_F(SegmentTest, LeftBehindByTheLastThatIsKilled) {
  const pid_t child = run_child([this] {
    Process* process = join({.most = 2, .cpus = cpus(0, 2)});
    if (process == nullptr || process->take() < 0 || process->take() < 0) return 1;
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

// A file that only root could open again would keep out those who come next.
TEST_F(SegmentTest, UmaskOfAll) {
  const mode_t before = umask(0777);
  Process* process = join({.most = 1, .cpus = cpus(0, 1)});
  umask(before);
  ASSERT_NE(process, nullptr);
  struct stat file{};
  ASSERT_EQ(stat(path(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  process->leave();
}

// A word that is no holder's, and one of a seat that is another's by now.
TEST_F(SegmentTest, NonsenseInTheLocks) {
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::make, reason));
  ASSERT_NE(segment, nullptr) << reason.text;
  ASSERT_TRUE(segment->sit());
  const uint32_t self = segment->seat().thread();
  Header& header = segment->layout().header;
  for (const Holder word : {~Holder{0}, Holder{1}, holder_of(self, kMostProcesses, 0), holder_of(self, -1, 0),
                            holder_of(self + 1, 0, 7), holder_of(self, kMostProcesses - 1, 7)}) {
    header.lock = word;
    ASSERT_TRUE(segment->lock()) << word;
    segment->unlock();
    EXPECT_EQ(header.lock, 0u);
    header.queue_lock = word;
    ASSERT_TRUE(segment->lock_queue(0)) << word;
    segment->unlock_queue();
    EXPECT_EQ(header.queue_lock, 0u);
  }
}

// Somebody has it who lives and does not go on: the lock of membership stays his, that of the queue does not.
TEST_F(SegmentTest, LocksOfALivingHolder) {
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::make, reason));
  ASSERT_TRUE(segment->sit());
  Header& header = segment->layout().header;
  header.lock = holder_of(segment->seat().thread(), segment->seat().number(), 1);
  header.queue_lock = header.lock.load();
  EXPECT_FALSE(segment->try_lock());
  EXPECT_FALSE(segment->lock());
  EXPECT_TRUE(segment->lock_queue(1'000'000));
  segment->unlock_queue();
  // It is closed, and nobody removes its name.
  header.closed = 1;
  EXPECT_NE(refusal().find("does not go on"), std::string::npos);
}

TEST_F(SegmentTest, RefusesOtherNumbers) {
  Process* process = join({.most = 1, .cpus = cpus(0, 1)});
  ASSERT_NE(process, nullptr);
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::leave, reason));
  ASSERT_NE(segment, nullptr);
  ++segment->layout().header.pid_namespace;
  EXPECT_NE(refusal().find("pid namespace"), std::string::npos);
  int live = 0;
  EXPECT_EQ(reset(path(), false, live, reason), Reset::refused);
  EXPECT_TRUE(exists());
}

TEST_F(SegmentTest, ResetIsNotForWhatMayBeInUse) {
  Process* process = join({.most = 1, .cpus = cpus(0, 1)});
  ASSERT_NE(process, nullptr);
  int live = 0;
  // No file can be opened.
  EXPECT_EQ(wait_for(run_child([&] {
              const rlimit none{0, 0};
              setrlimit(RLIMIT_NOFILE, &none);
              Reason reason;
              return reset(path(), true, live, reason) == Reset::failed && reason.text[0] != '\0' ? 0 : 1;
            })),
            0);
  EXPECT_TRUE(exists());
  // Of another version, which may well be running.
  const int file = open(path(), O_RDWR);
  const uint32_t layout = kLayout + 1;
  ASSERT_EQ(pwrite(file, &layout, sizeof layout, offsetof(Header, layout)), static_cast<ssize_t>(sizeof layout));
  close(file);
  EXPECT_TRUE(process->lost());
  Reason reason;
  EXPECT_EQ(reset(path(), false, live, reason), Reset::refused);
  EXPECT_NE(std::string(reason.text).find("--force"), std::string::npos);
  EXPECT_TRUE(exists());
  EXPECT_EQ(reset(path(), true, live, reason), Reset::removed);
  EXPECT_FALSE(exists());
}

// One that its owner may not open; root may.
TEST_F(SegmentTest, ResetOfWhatCannotBeOpened) {
  const std::string folder = path() + std::string("-folder");
  mkdir(folder.c_str(), 0777);
  chmod(folder.c_str(), 0777);
  const std::string file = folder + "/segment";
  EXPECT_EQ(wait_for(run_child([&] {
              constexpr uid_t kNobody = 65534;
              if (geteuid() == 0 && setuid(kNobody) != 0) return 0;
              Reason reason;
              delete Segment::open(file.c_str(), Segment::Missing::make, reason);
              if (chmod(file.c_str(), 0) != 0) return 1;
              int live = 0;
              if (reset(file.c_str(), false, live, reason) != Reset::refused) return 2;
              if (access(file.c_str(), F_OK) != 0) return 3;
              return reset(file.c_str(), true, live, reason) == Reset::removed ? 0 : 4;
            })),
            0);
  unlink(file.c_str());
  rmdir(folder.c_str());
}

// Numbers that nobody has bounded.
TEST_F(SegmentTest, StatusOfNonsense) {
  Process* process = join({.most = 2, .cpus = cpus(0, 2)});
  ASSERT_NE(process, nullptr);
  Reason reason;
  const std::unique_ptr<Segment> segment(Segment::open(path(), Segment::Missing::leave, reason));
  Record& record = segment->layout().records[0];
  for (const int number : {INT_MAX, INT_MIN, -1}) {
    record.most = number;
    record.weight = number;
    record.missing = static_cast<uint32_t>(number);
    record.waited_ns = static_cast<uint64_t>(number);
    std::fill(std::begin(record.command), std::end(record.command), '\xff');
    NodeStatus status;
    ASSERT_TRUE(read_status(path(), status, reason)) << reason.text;
    ASSERT_EQ(status.processes.size(), 1u);
    const ProcessStatus& process = status.processes[0];
    EXPECT_GE(process.weight, 1);
    EXPECT_LE(process.weight, kMostWeight);
    EXPECT_GE(process.lent, 0);
    EXPECT_LE(process.lent, 2);
    EXPECT_GE(process.waited_ns, 0);
    EXPECT_LT(std::string(process.command).size(), sizeof record.command);
  }
  process->leave();
}

TEST_F(SegmentTest, Reset) {
  Reason reason;
  int live = 0;
  EXPECT_EQ(reset(path(), false, live, reason), Reset::nothing);
  write("nonsense");
  EXPECT_EQ(reset(path(), false, live, reason), Reset::removed);
  Process* process = join({.most = 1, .cpus = cpus(0, 1)});
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(reset(path(), false, live, reason), Reset::refused);
  EXPECT_EQ(live, 1);
  EXPECT_FALSE(process->lost());
  EXPECT_EQ(reset(path(), true, live, reason), Reset::removed);
  EXPECT_TRUE(process->lost());
  EXPECT_FALSE(exists());
  process->leave();
}

}  // namespace
