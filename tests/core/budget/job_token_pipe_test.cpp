// SPDX-License-Identifier: Apache-2.0
// The protocol on real pipes: what counts as make's, that nobody waits, and that no token is lost or made.
#include "core/budget/job_token_pipe.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace weft::core;
using Kind = JobserverPlace::Kind;

// Make's side.
class Pipe {
 public:
  explicit Pipe(const std::string& tokens = "") {
    EXPECT_EQ(pipe(ends_), 0);
    put(tokens);
  }
  ~Pipe() {
    close(ends_[0]);
    close(ends_[1]);
  }

  JobserverPlace place() const { return {.kind = Kind::pipe, .read_end = ends_[0], .write_end = ends_[1]}; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void put(const std::string& tokens) const {
    EXPECT_EQ(write(ends_[1], tokens.data(), tokens.size()), static_cast<ssize_t>(tokens.size()));
  }
  // All that are there, in order of their bytes.
  std::string take_all() const {
    std::string all;
    pollfd look{.fd = ends_[0], .events = POLLIN, .revents = 0};
    char token = 0;
    while (poll(&look, 1, 0) == 1 && read(ends_[0], &token, 1) == 1) all += token;
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  int ends_[2]{};
};

// Runs in a child, whose parent has the same descriptors, as make has.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool opens(const JobserverPlace& place) {
  return in_child([&] {
           auto tokens = std::make_unique<JobTokenPipe>();
           return tokens->open(place) ? 1 : 0;
         }) == 1;
}

TEST(JobTokenPipeTest, TakesWhatIsThereAndWritesTheSameBytesBack) {
  const Pipe pipe("abcde");
  EXPECT_EQ(in_child([&] {
              auto tokens = std::make_unique<JobTokenPipe>();
              if (!tokens->open(pipe.place())) return 1;
              if (tokens->take(0) != 0 || tokens->take(3) != 3 || tokens->count() != 3) return 2;
              if (tokens->take(9) != 2 || tokens->take(1) != 0) return 3;
              if (tokens->give_back(2) != 2 || tokens->give_back(9) != 3 || tokens->give_back(1) != 0) return 4;
              return tokens->count();
            }),
            0);
  EXPECT_EQ(pipe.take_all(), "abcde");
}

TEST(JobTokenPipeTest, MakesOwnReadStillWaits) {
  const Pipe pipe;
  EXPECT_TRUE(opens(pipe.place()));
  EXPECT_EQ(fcntl(pipe.read_end(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(JobTokenPipeTest, OwnDescriptorIsHighAndClosedByExec) {
  const Pipe pipe;
  EXPECT_EQ(in_child([&] {
              const int lowest = dup(0);
              close(lowest);
              auto tokens = std::make_unique<JobTokenPipe>();
              if (!tokens->open(pipe.place())) return 1;
              if (dup(0) != lowest) return 2;
              for (int i = 0; i < 4096; ++i) {
                const int flags = fcntl(i, F_GETFD);
                if (i > 500 && flags >= 0 && (flags & FD_CLOEXEC) == 0) return 3;
              }
              return 0;
            }),
            0);
}

TEST(JobTokenPipeTest, ErrnoStays) {
  const Pipe pipe;
  EXPECT_EQ(in_child([&] {
              auto tokens = std::make_unique<JobTokenPipe>();
              errno = 77;
              tokens->open({.kind = Kind::pipe, .read_end = 900, .write_end = 901});
              tokens->open(pipe.place());
              tokens->take(1);
              tokens->give_back(1);
              tokens->close();
              return errno;
            }),
            77);
}

TEST(JobTokenPipeTest, WhatIsNotMakes) {
  const Pipe pipe;
  const Pipe other;
  const int file = open("/dev/null", O_RDWR);
  EXPECT_TRUE(opens(pipe.place()));
  const auto place = [](int read_end, int write_end) {
    return JobserverPlace{.kind = Kind::pipe, .read_end = read_end, .write_end = write_end};
  };
  EXPECT_FALSE(opens(place(pipe.write_end(), pipe.read_end()))) << "the wrong way round";
  EXPECT_FALSE(opens(place(pipe.read_end(), other.write_end()))) << "two pipes";
  EXPECT_FALSE(opens(place(pipe.read_end(), pipe.read_end())));
  EXPECT_FALSE(opens(place(file, file))) << "no pipe";
  EXPECT_FALSE(opens(place(900, 901))) << "nothing there";
  EXPECT_FALSE(opens({.kind = Kind::withheld}));
  EXPECT_FALSE(opens({.kind = Kind::none}));
  fcntl(pipe.read_end(), F_SETFD, FD_CLOEXEC);
  EXPECT_FALSE(opens(pipe.place())) << "not from another program";
  close(file);
}

TEST(JobTokenPipeTest, PipeThatTheProcessHasMadeIsItsOwn) {
  EXPECT_EQ(in_child([] {
              // The parent has nothing at these numbers.
              int ends[2];
              if (pipe(ends) != 0) return 1;
              auto tokens = std::make_unique<JobTokenPipe>();
              return tokens->open({.kind = Kind::pipe, .read_end = ends[0], .write_end = ends[1]}) ? 2 : 0;
            }),
            0);
}

TEST(JobTokenPipeTest, DescriptorThatTheProgramHasClosedIsLeftAlone) {
  const Pipe pipe("abc");
  EXPECT_EQ(in_child([&] {
              auto tokens = std::make_unique<JobTokenPipe>();
              if (!tokens->open(pipe.place()) || tokens->take(1) != 1) return 1;
              for (int i = 3; i < 4096; ++i) close(i);
              // The program's own pipes have all of the numbers now.
              const int file = ::open("/dev/zero", O_RDWR);
              for (int i = 500; i < 1024; ++i) dup2(file, i);
              if (tokens->take(1) != 0 || tokens->give_back(1) != 0) return 2;
              tokens->close();
              return fcntl(1000, F_GETFD) >= 0 && !tokens->is_open() ? 0 : 3;
            }),
            0);
}

class FifoTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "weft-tokens-" + std::to_string(getpid());
    ASSERT_EQ(mkdir(folder_.c_str(), 0700), 0);
    path_ = folder_ + "/fifo with blank";
  }
  void TearDown() override {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  JobserverPlace place() const {
    JobserverPlace place{.kind = Kind::fifo};
    path_.copy(place.path.data(), place.path.size() - 1);
    return place;
  }

  std::string folder_;
  std::string path_;
};

TEST_F(FifoTest, TakesAndGivesBack) {
  JobTokenPipe tokens;
  EXPECT_FALSE(tokens.open(place())) << "nothing there";
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  ASSERT_TRUE(tokens.open(place()));
  const int make = open(path_.c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_EQ(write(make, "xy", 2), 2);
  EXPECT_EQ(tokens.take(5), 2);
  EXPECT_EQ(tokens.give_back(1), 1);
  // Make has ended: there is nobody else any more, and no SIGPIPE.
  close(make);
  unlink(path_.c_str());
  EXPECT_EQ(tokens.give_back(1), 1);
  EXPECT_EQ(tokens.take(5), 2);
  tokens.close();
}

TEST_F(FifoTest, PlainFileIsNone) {
  close(open(path_.c_str(), O_CREAT | O_RDWR, 0600));
  JobTokenPipe tokens;
  EXPECT_FALSE(tokens.open(place()));
}

// Many processes take and give back, and some of them read as make does, which waits.
TEST(JobTokenPipeTest, NoTokenIsLostOrMade) {
  constexpr int kProcesses = 12;
  constexpr int kTokens = 15;
  std::string all;
  for (int i = 0; i < kTokens; ++i) all += static_cast<char>('a' + i);
  const Pipe pipe(all);
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::mt19937 random(static_cast<unsigned>(i));
      if (i % 4 == 0) {
        for (int k = 0; k < 500; ++k) {
          char token = 0;
          if (read(pipe.read_end(), &token, 1) != 1 || write(pipe.write_end(), &token, 1) != 1) _exit(1);
        }
        _exit(0);
      }
      auto tokens = std::make_unique<JobTokenPipe>();
      if (!tokens->open(pipe.place())) _exit(2);
      for (int k = 0; k < 3000; ++k) {
        tokens->take(static_cast<int>(random() % 6));
        if (tokens->count() > kTokens) _exit(3);
        const int wanted = std::min(tokens->count(), static_cast<int>(random() % 6));
        if (tokens->give_back(wanted) != wanted) _exit(4);
      }
      while (tokens->count() > 0) tokens->give_back(2);
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(pipe.take_all(), all);
}

}  // namespace
