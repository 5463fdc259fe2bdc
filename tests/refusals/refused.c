// SPDX-License-Identifier: Apache-2.0
// refused WHEN ERRNO CALL[,CALL...] [spin|sleep]: parallel regions of all kinds in a process where the system refuses
// the named calls, from its beginning (WHEN is `start`: it executes itself anew) or from just before the first region
// (`region`). Prints "right" when the results are, however many members the regions had.
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>

#if defined __x86_64__
#define MACHINE AUDIT_ARCH_X86_64
#else
#define MACHINE AUDIT_ARCH_AARCH64
#endif

struct call {
  const char* name;
  int number;
};
#define CALL(name) {#name, SYS_##name}
static const struct call CALLS[] = {
    CALL(clone),
    CALL(clone3),
    CALL(mmap),
    CALL(munmap),
    CALL(mprotect),
    CALL(madvise),
    CALL(brk),
    CALL(rseq),
    CALL(membarrier),
    CALL(sched_setaffinity),
    CALL(sched_getaffinity),
    CALL(sched_setattr),
    CALL(sched_getattr),
    CALL(sched_yield),
    CALL(sigaltstack),
    CALL(rt_sigaction),
    CALL(rt_sigprocmask),
    CALL(prctl),
    CALL(openat),
    CALL(read),
    CALL(pread64),
    CALL(newfstatat),
    CALL(statx),
    CALL(readlink),
    CALL(getdents64),
    CALL(getrandom),
    CALL(prlimit64),
    CALL(set_robust_list),
    CALL(get_robust_list),
    CALL(clock_nanosleep),
    CALL(nanosleep),
    CALL(clock_gettime),
    CALL(clock_getres),
    CALL(memfd_create),
    CALL(ftruncate),
    CALL(fallocate),
    CALL(linkat),
    CALL(unlink),
    CALL(fstat),
    CALL(process_vm_readv),
    CALL(gettid),
    CALL(geteuid),
    CALL(kill),
    CALL(tgkill),
    CALL(get_mempolicy),
    CALL(mbind),
    CALL(sysinfo),
    CALL(uname),
    CALL(getcpu),
    CALL(ioctl),
    CALL(fcntl),
    CALL(fsync),
    CALL(mremap),
    CALL(sched_getparam),
    CALL(sched_getscheduler),
    CALL(getpid),
    CALL(poll),
    CALL(ppoll),
    CALL(futex_waitv),
    CALL(mlock),
    CALL(shmget),
};

static int number_of(const char* name) {
  for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
    if (strcmp(CALLS[i].name, name) == 0) return CALLS[i].number;
  }
  return -1;
}

// 0: they are refused from now on.
static int refuse(const char* error, char* names) {
  struct filter {
    struct sock_filter code[64];
  } filter = {{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
               BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))}};
  unsigned short length = 4;
  const unsigned number = strcmp(error, "ENOSYS") == 0   ? ENOSYS
                          : strcmp(error, "EAGAIN") == 0 ? EAGAIN
                          : strcmp(error, "ENOMEM") == 0 ? ENOMEM
                          : strcmp(error, "EINVAL") == 0 ? EINVAL
                                                         : EPERM;
  for (char* name = strtok(names, ","); name != NULL && length < 60; name = strtok(NULL, ",")) {
    const int call = number_of(name);
    if (call < 0) return -1;
    filter.code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1);
    filter.code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | number);
  }
  filter.code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {length, filter.code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int tree(int n) {
  if (n < 2) return n;
  int a = 0, b = 0;
#pragma omp task shared(a)
  a = tree(n - 1);
#pragma omp task shared(b)
  b = tree(n - 2);
#pragma omp taskwait
  return a + b;
}

static int flat(void) {
  long sum = 0;
  int fib = 0, turn = 0, wrong = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel
  {
#pragma omp for schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < 1000; i++) sum += i;
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 20; i++) {
#pragma omp ordered
      wrong += turn++ != i;
    }
#pragma omp single
    fib = tree(10);
    omp_set_lock(&lock);
    sum++;
    omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp single
    sum -= omp_get_num_threads();
  }
  return wrong == 0 && sum == 499500 && fib == 55;
}

static int nested(void) {
  int good = 1;
#pragma omp parallel num_threads(4) reduction(&& : good)
  {
    int arrived = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp atomic
      arrived++;
#pragma omp barrier
#pragma omp single
      good = arrived == omp_get_num_threads();
    }
  }
  return good;
}

// Members that wait for each other without the runtime's help.
static int spinning(void) {
  int good = 1;
#pragma omp parallel num_threads(4) reduction(&& : good)
  {
    int arrived = 0;
#pragma omp parallel num_threads(4)
    {
      __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < omp_get_num_threads()) {
      }
    }
    good = arrived > 0;
  }
  return good;
}

// The same, asleep.
static int sleeping(void) {
  int good = 1;
#pragma omp parallel num_threads(4) reduction(&& : good)
  {
    int arrived = 0;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t all = PTHREAD_COND_INITIALIZER;
#pragma omp parallel num_threads(4)
    {
      pthread_mutex_lock(&mutex);
      if (++arrived == omp_get_num_threads()) pthread_cond_broadcast(&all);
      while (arrived < omp_get_num_threads()) pthread_cond_wait(&all, &mutex);
      pthread_mutex_unlock(&mutex);
    }
    good = arrived > 0;
  }
  return good;
}

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const char* when = arguments[1];
  if (strcmp(when, "start") == 0) {
    char* again[] = {arguments[0], "running", arguments[2], arguments[3], arguments[4], NULL};
    if (refuse(arguments[2], strdup(arguments[3])) != 0) return 77;
    execv("/proc/self/exe", again);
    return 78;
  }
  if (strcmp(when, "region") == 0 && refuse(arguments[2], arguments[3]) != 0) return 77;
  int good = 1;
  const int spin = count > 4 && strcmp(arguments[4], "spin") == 0;
  const int sleep = count > 4 && strcmp(arguments[4], "sleep") == 0;
  for (int i = 0; i < 20; i++) {
    good = good && flat() && nested() && (!spin || spinning()) && (!sleep || sleeping());
  }
  static const char RIGHT[] = "right\n", WRONG[] = "wrong\n";
  return write(1, good ? RIGHT : WRONG, 6) == 6 && good ? 0 : 1;
}
