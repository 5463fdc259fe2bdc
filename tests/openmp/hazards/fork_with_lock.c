// SPDX-License-Identifier: Apache-2.0
// fork outside of regions by who has a lock that members of another thread's region wait for. In the child nobody waits:
// it gives the lock back, and goes on.
#include "../support/check.h"

#include <omp.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static omp_lock_t lock;

static void *wait_for_it(void *unused)
{
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 0) usleep(100000);  // the thread itself comes last
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
  }
  return unused;
}

static void use(void)
{
  int members = 0;
#pragma omp parallel num_threads(2)
  {
    omp_set_lock(&lock);
    members++;
    omp_unset_lock(&lock);
  }
  CHECK(members >= 1);
}

int main(void)
{
  omp_init_lock(&lock);
  use();
  omp_set_lock(&lock);
  pthread_t other;
  CHECK_EQ(pthread_create(&other, NULL, wait_for_it, NULL), 0);
  usleep(300000);
  const pid_t child = fork();
  omp_unset_lock(&lock);
  use();
  if (child == 0) _exit(check_result());
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_EQ(pthread_join(other, NULL), 0);
  return check_result();
}
