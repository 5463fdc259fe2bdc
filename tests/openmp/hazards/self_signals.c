// SPDX-License-Identifier: Apache-2.0
// A thread that sends itself a signal in a sandbox that refuses the system call for signals with a value, as no thread
// needs it for that: the signal arrives, and errors are those of libc.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "../support/check.h"

static _Atomic int g_got;
static _Atomic int g_code;

static void handle(int signal, siginfo_t *info, void *context)
{
  (void)signal, (void)context;
  g_got++;
  g_code = info->si_code;
}

static void refuse(unsigned call)
{
  struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) exit(0);
}

static void signal_self(void)
{
  const int before = g_got;
  CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
  CHECK_EQ(g_got, before + 1);
  CHECK_EQ(g_code, SI_TKILL);
  CHECK_EQ(pthread_kill(pthread_self(), 0), 0);
  CHECK_EQ(pthread_kill(pthread_self(), 99), EINVAL);
}

int main(void)
{
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  refuse(SYS_rt_tgsigqueueinfo);
  signal_self();
#pragma omp parallel
#pragma omp critical
  signal_self();
  return check_result();
}
