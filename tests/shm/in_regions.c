/* SPDX-License-Identifier: Apache-2.0 */
/* Members of nested regions and explicit tasks, more than CPUs, read and write under one lock, beside another process
 * that does so too, and after a process that was killed while its members read. Members that wait must let those run
 * who have the lock. Prints nothing and ends with 0. */
#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weft/rwlock.h"

enum { kReaders = 64, kOuter = 4, kInner = 4, kRounds = 60 };

static weft_rwlock *lock;
static volatile long *pair;

static void check(int error, const char *what) {
  if (error == 0) return;
  fprintf(stderr, "in_regions: %s: %d: %s\n", what, error, weft_shm_error());
  exit(1);
}

static void write_pair(void) {
  const int error = weft_rwlock_wrlock(lock);
  if (error == EOWNERDEAD) {
    pair[1] = pair[0];
    check(weft_rwlock_consistent(lock), "consistent");
  } else {
    check(error, "wrlock");
  }
  pair[0] = pair[0] + 1;
  sched_yield();
  pair[1] = pair[0];
  check(weft_rwlock_wrunlock(lock), "wrunlock");
}

static void read_pair(weft_rwlock_reader *reader) {
  int error = weft_rwlock_rdlock(reader);
  for (; error == EOWNERDEAD; error = weft_rwlock_rdlock(reader)) write_pair(); /* it mends */
  check(error, "rdlock");
  const long first = pair[0];
  sched_yield();
  if (first != pair[1]) {
    fprintf(stderr, "in_regions: half a change is seen\n");
    exit(1);
  }
  check(weft_rwlock_rdunlock(reader), "rdunlock");
}

static void member(int number) {
  weft_rwlock_reader *reader;
  check(weft_rwlock_register(&reader, lock), "register");
  for (int round = 0; round < kRounds; ++round) {
    if ((round + number) % 4 == 0) {
      write_pair();
    } else {
      read_pair(reader);
    }
  }
  check(weft_rwlock_unregister(reader), "unregister");
}

/* Every member has a read lock when the process is killed. No writer may come meanwhile: it would keep the last ones out. */
static void die_with_locks(void) {
#pragma omp parallel num_threads(kOuter * kInner)
  {
    weft_rwlock_reader *reader;
    check(weft_rwlock_register(&reader, lock), "register");
    check(weft_rwlock_rdlock(reader), "rdlock");
#pragma omp barrier
    if (omp_get_thread_num() == 0) kill(getpid(), SIGKILL);
#pragma omp barrier
  }
}

int main(void) {
  const size_t bytes = weft_rwlock_size(kReaders);
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pair = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(weft_rwlock_create(memory, bytes, kReaders, 0), "create");
  check(weft_rwlock_attach(&lock, memory, bytes), "attach");
  const pid_t dying = fork();
  if (dying == 0) {
    die_with_locks();
    return 0;
  }
  waitpid(dying, NULL, 0);
  const pid_t other = fork();
  if (other == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    weft_rwlock_reader *reader;
    check(weft_rwlock_register(&reader, lock), "register");
    for (;;) {
      write_pair();
      read_pair(reader);
      usleep(200);
    }
  }
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(kOuter)
  {
    const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(kInner)
    {
      member(outer * kInner + omp_get_thread_num());
#pragma omp barrier
      if (outer == 0 && omp_get_thread_num() == 0) kill(other, SIGKILL);
#pragma omp single
      for (int i = 0; i < 8; ++i) {
#pragma omp task firstprivate(i)
        member(i);
      }
    }
  }
  waitpid(other, NULL, 0);
  write_pair();
  check(weft_rwlock_destroy(lock), "destroy");
  check(weft_rwlock_detach(lock), "detach");
  return pair[0] == pair[1] ? 0 : 1;
}
