// SPDX-License-Identifier: Apache-2.0
#include "platform/reserve_file.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <iterator>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace weft::platform {

namespace {

constexpr uint64_t kBytes = uint64_t{96} << 20;
constexpr int kNoFilters = 77;

volatile std::sig_atomic_t g_inside = 0;
volatile std::sig_atomic_t g_signals_inside = 0;
volatile std::sig_atomic_t g_signals = 0;

void on_alarm(int) {
  g_signals = g_signals + 1;
  if (g_inside != 0) g_signals_inside = g_signals_inside + 1;
}

// A kernel that is interrupted by each of them takes back what it has done; here they all wait.
TEST(ReserveFileTest, AFastTimerDoesNotInterruptIt) {
  const int file = memfd_create("reserve_file_test", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  struct sigaction handler{};
  handler.sa_handler = on_alarm;
  struct sigaction before{};
  ASSERT_EQ(sigaction(SIGALRM, &handler, &before), 0);
  const itimerval fast{{0, 100}, {0, 100}};
  const itimerval none{};
  setitimer(ITIMER_REAL, &fast, nullptr);
  while (g_signals < 10) {
  }
  g_inside = 1;
  const int error = reserve_file(file, 4096, kBytes);
  g_inside = 0;
  setitimer(ITIMER_REAL, &none, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(error, 0);
  EXPECT_LE(g_signals_inside, 2) << "before it begins and when it is done there may be one each";
  struct stat found{};
  ASSERT_EQ(fstat(file, &found), 0);
  EXPECT_EQ(static_cast<uint64_t>(found.st_size), kBytes);
  EXPECT_EQ(static_cast<uint64_t>(found.st_blocks) * 512, kBytes - 4096);
  close(file);
}

TEST(ReserveFileTest, WhatInterruptsItForEverIsAnError) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    const int file = memfd_create("reserve_file_test", MFD_CLOEXEC);
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINTR),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{std::size(program), program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
      _exit(kNoFilters);
    }
    _exit(reserve_file(file, 0, kBytes) == EINTR ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoFilters)
    GTEST_SKIP() << "no filters of system calls (an emulator)";
  EXPECT_EQ(status, 0);
}

TEST(ReserveFileTest, WhatTheSystemRefusesIsSaid) {
  EXPECT_EQ(reserve_file(-1, 0, 1), EBADF);
  EXPECT_EQ(reserve_file(-1, 1, 1), 0) << "nothing is nothing";
}

}  // namespace

}  // namespace weft::platform
