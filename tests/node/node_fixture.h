// SPDX-License-Identifier: Apache-2.0
// A segment of the test's own, and processes that use it.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/process.h"

inline weft::platform::CpuSet cpus(int first, int count) {
  weft::platform::CpuSet set;
  for (int i = 0; i < count; ++i) set.add(first + i);
  return set;
}

class NodeTest : public testing::Test {
 protected:
  NodeTest() : path_("/dev/shm/weft-node-test-" + std::to_string(getpid())) { unlink(path_.c_str()); }
  ~NodeTest() override { unlink(path_.c_str()); }

  const char* path() const { return path_.c_str(); }
  bool exists() const { return access(path(), F_OK) == 0; }

  // Who is there still leaves, and the file goes with the last one.
  void TearDown() override {
    for (weft::node::Process* process : joined_) process->leave();
    EXPECT_FALSE(exists());
  }

  // For as long as the test program runs: processes are never freed.
  weft::node::Process* join(const weft::node::Terms& terms) {
    weft::node::Reason reason;
    weft::node::Process* process = weft::node::Process::join(path(), terms, reason);
    EXPECT_NE(process, nullptr) << reason.text;
    static auto* const processes = new std::vector<weft::node::Process*>;
    processes->push_back(process);
    if (process != nullptr) joined_.push_back(process);
    return process;
  }

  template <class Body>
  static pid_t run_child(Body&& body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    return child;
  }

  // A child that says that it is ready when `until_ready` has said true, and then does `next`.
  template <class UntilReady, class Next>
  static pid_t start_child(UntilReady&& until_ready, Next&& next) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    const pid_t child = run_child([&] {
      if (!until_ready() || write(ready[1], "x", 1) != 1) return 1;
      next();
      return 1;
    });
    close(ready[1]);
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1) << "it has ended";
    close(ready[0]);
    return child;
  }

  // The exit code, or the number of the signal, negative.
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  const std::string path_;
  std::vector<weft::node::Process*> joined_;
};
