// SPDX-License-Identifier: Apache-2.0
// Whether a process is still the one that it was.
#include "platform/process.h"

#include <climits>
#include <string>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace weft::platform;

// As an older kernel has it, which gives processes no inodes.
ProcessId without_inode(ProcessId process) {
  process.inode = 0;
  return process;
}

TEST(ProcessTest, Itself) {
  const ProcessId self = own_process_id();
  EXPECT_EQ(self.pid, getpid());
  EXPECT_GT(self.start, 0u);
  EXPECT_NE(self.clock, 0u);
  EXPECT_EQ(self.start, process_start(getpid()));
  EXPECT_FALSE(process_has_ended(self));
  EXPECT_FALSE(process_has_ended(without_inode(self)));
  EXPECT_FALSE(process_has_ended({.pid = getpid()})) << "nothing else is known";
  for (const pid_t none : {0, -1, INT_MIN}) EXPECT_FALSE(process_has_ended({.pid = none}));
  EXPECT_NE(pid_namespace(), 0u);
  // An emulator's, under an emulator.
  char thread_name[16];
  ASSERT_EQ(prctl(PR_GET_NAME, thread_name), 0);
  char name[8];
  command_name(name, sizeof name);
  EXPECT_EQ(name, std::string(thread_name).substr(0, 7));
}

TEST(ProcessTest, NumberOfAnother) {
  ProcessId other = own_process_id();
  if (other.inode != 0) {
    // The start is another one for who has another clock; the inode is not.
    ++other.start;
    EXPECT_FALSE(process_has_ended(other));
    ++other.inode;
    EXPECT_TRUE(process_has_ended(other));
  }
  other = without_inode(own_process_id());
  ++other.start;
  EXPECT_TRUE(process_has_ended(other));
  ++other.clock;
  EXPECT_FALSE(process_has_ended(other)) << "who has another clock sees another start";
}

TEST(ProcessTest, Child) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    const ProcessId self = own_process_id();
    if (write(told[1], &self, sizeof self) != sizeof self) _exit(1);
    for (;;) pause();
  }
  ProcessId known;
  ASSERT_EQ(read(told[0], &known, sizeof known), static_cast<ssize_t>(sizeof known));
  const ProcessId ids[] = {known, without_inode(known), {.pid = child}};
  for (const ProcessId& id : ids) EXPECT_FALSE(process_has_ended(id));
  EXPECT_FALSE(thread_has_ended(child));
  kill(child, SIGKILL);
  siginfo_t info;
  // It has ended, but is not collected.
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  for (const ProcessId& id : {ids[0], ids[1]}) EXPECT_TRUE(process_has_ended(id));
  EXPECT_EQ(process_start(child), 0u);
  waitpid(child, nullptr, 0);
  for (const ProcessId& id : ids) EXPECT_TRUE(process_has_ended(id));
  EXPECT_TRUE(thread_has_ended(child));
}

// Who cannot open files must not take others for dead.
TEST(ProcessTest, NoFileCanBeOpened) {
  const ProcessId parent = own_process_id();
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    _exit(process_has_ended(parent) || process_has_ended(without_inode(parent)) ? 1 : 0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
