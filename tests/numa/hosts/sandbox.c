// SPDX-License-Identifier: Apache-2.0
// Gives up most system calls: any other ends it.
#include "busy.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(int count, char **arguments) {
  begin(count, arguments);
  char *array = make_array();
  while (goes_on()) {
    for (size_t i = 0; i < SIZE; i += 64) ++array[i];
  }
  struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 ALLOW(SYS_read),
                                 ALLOW(SYS_write),
                                 ALLOW(SYS_exit),
                                 ALLOW(SYS_exit_group),
                                 ALLOW(SYS_rt_sigreturn),
                                 ALLOW(SYS_brk),
                                 ALLOW(SYS_mmap),
                                 ALLOW(SYS_munmap),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
  // Whether there are filters at all.
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0);
  if (count > 2) {
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return 0;
  } else if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
    return 0;
  }
  for (size_t i = 0; i < SIZE; i += 64) ++array[i];
  char *other = malloc(SIZE);
  if (other == NULL) return 1;
  memset(other, 1, SIZE);
  free(other);
  free(array);
  return 0;
}
