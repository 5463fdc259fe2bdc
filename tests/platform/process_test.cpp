// SPDX-License-Identifier: Apache-2.0
// Whether a process is still the one that it was.
#include "platform/process.h"

#include <string>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace weft::platform;

TEST(ProcessTest, Itself) {
  const uint64_t start = process_start(getpid());
  EXPECT_GT(start, 0u);
  EXPECT_FALSE(process_has_ended(getpid(), start));
  EXPECT_TRUE(process_has_ended(getpid(), start + 1)) << "the number of another process";
  EXPECT_FALSE(process_has_ended(getpid(), 0)) << "unknown when it was started";
  EXPECT_NE(pid_namespace(), 0u);
  // An emulator's, under an emulator.
  char thread_name[16];
  ASSERT_EQ(prctl(PR_GET_NAME, thread_name), 0);
  char name[8];
  command_name(name, sizeof name);
  EXPECT_EQ(name, std::string(thread_name).substr(0, 7));
}

TEST(ProcessTest, Child) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  const uint64_t start = process_start(child);
  EXPECT_FALSE(process_has_ended(child, start));
  kill(child, SIGKILL);
  siginfo_t info;
  // It has ended, but is not collected.
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(process_has_ended(child, start));
  EXPECT_EQ(process_start(child), 0u);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(process_has_ended(child, start));
}

// Who cannot open files must not take others for dead.
TEST(ProcessTest, NoFileCanBeOpened) {
  const uint64_t start = process_start(getpid());
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    _exit(process_has_ended(getppid(), start) ? 1 : 0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
