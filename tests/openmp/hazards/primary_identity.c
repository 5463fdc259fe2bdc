// SPDX-License-Identifier: Apache-2.0
// In a large inner team whose members wait, members that begin late get no identity that somebody counts on: neither the
// primary's, which waits in its own part, nor that of a member that waits.
#include "../support/check.h"

#include <omp.h>
#include <pthread.h>

static int owner;
#pragma omp threadprivate(owner)
static __thread int local;

static omp_lock_t for_primary, for_others;

static void become(int who)
{
  owner = local = who;
}

static void inner_team(int me, int members, int waiting)
{
  const pthread_t self = pthread_self();
  int left = waiting;
  become(me);
  omp_set_lock(&for_primary);
  omp_set_lock(&for_others);
#pragma omp parallel num_threads(members)
  {
    const int number = omp_get_thread_num();
    if (number == 0) {
      if (omp_get_num_threads() == members) omp_set_lock(&for_primary);
      omp_unset_lock(&for_primary);
      CHECK_EQ(owner, me);
      CHECK_EQ(local, me);
    } else {
      CHECK(!pthread_equal(pthread_self(), self));
      become(-number);
      if (number <= waiting) {
        if (__atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) == 0) omp_unset_lock(&for_primary);
        omp_set_lock(&for_others);
        omp_unset_lock(&for_others);
      }
      if (number == members - 1) omp_unset_lock(&for_others);
      CHECK_EQ(owner, -number);
      CHECK_EQ(local, -number);
    }
    if (omp_get_num_threads() < members && number == 0) omp_unset_lock(&for_others);
  }
  CHECK_EQ(owner, me);
  CHECK_EQ(local, me);
  CHECK(pthread_equal(pthread_self(), self));
}

int main(void)
{
  omp_init_lock(&for_primary);
  omp_init_lock(&for_others);
  omp_set_max_active_levels(3);
  for (int round = 0; round < TIMES(10); round++) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) inner_team(1000 + round, 60, 24);
  }
  return check_result();
}
