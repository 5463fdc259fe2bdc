// SPDX-License-Identifier: Apache-2.0
// Simple locks: exclusion, test, hints, many of them, in memory of any content, next to other data (gcc's type has 4 bytes,
// clang's 8), held over barriers and inner regions.
#include "../support/check.h"
#include "../support/everywhere.h"

static void exclusive(int threads)
{
  omp_lock_t lock;
  long count = 0;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 300; i++) {
    omp_set_lock(&lock);
    count++;
    omp_unset_lock(&lock);
  }
  CHECK_EQ(count, 300L * threads);
  omp_destroy_lock(&lock);
}

static void tested(int threads)
{
  omp_lock_t lock;
  int inside = 0, entered = 0;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 20; i++) {
    while (!omp_test_lock(&lock)) continue;  // no yield, no sleep: the holder must run all the same
    CHECK_EQ(inside++, 0);
    entered++;
    inside--;
    omp_unset_lock(&lock);
  }
  CHECK_EQ(entered, 20 * threads);
  omp_destroy_lock(&lock);
}

// One member holds the lock over barriers: nobody else gets it, then somebody does.
static void held_over_barriers(int threads)
{
  omp_lock_t lock;
  int got = 0;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(threads)
  {
#pragma omp barrier
#pragma omp master
    omp_set_lock(&lock);
#pragma omp barrier
    for (int i = 0; i < 10; i++) CHECK_EQ(omp_test_lock(&lock), 0);
#pragma omp barrier
#pragma omp master
    omp_unset_lock(&lock);
#pragma omp barrier
    if (omp_test_lock(&lock)) {
#pragma omp atomic
      got++;
#pragma omp barrier
      omp_unset_lock(&lock);
    } else {
#pragma omp barrier
    }
  }
  CHECK_EQ(got, 1);
  omp_destroy_lock(&lock);
}

static void slow_holder(int threads)
{
  omp_lock_t lock;
  int order = 0;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(threads)
  {
    omp_set_lock(&lock);
    int before = order;
    usleep(300);
    order = before + 1;
    omp_unset_lock(&lock);
  }
  CHECK_EQ(order, threads);
  omp_destroy_lock(&lock);
}

static void region_inside(int threads)
{
  omp_lock_t lock;
  int total = 0;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(threads)
  {
    omp_set_lock(&lock);
#pragma omp parallel num_threads(3)
    {
      CHECK_EQ(omp_test_lock(&lock), 0);
#pragma omp barrier
#pragma omp atomic
      total++;
    }
    omp_unset_lock(&lock);
  }
  CHECK_EQ(total, 3 * threads);
  omp_destroy_lock(&lock);
}

// The runtime may use no byte outside of the object, and must not expect anything in it before it is initialised.
static void neighbours(int threads)
{
  struct {
    unsigned before;
    omp_lock_t lock;
    unsigned after[3];
  } in;
  for (int fill = 0; fill < 256; fill += 85) {
    memset(&in, fill, sizeof in);
    unsigned expected;
    memset(&expected, fill, sizeof expected);
    omp_init_lock(&in.lock);
    int count = 0;
#pragma omp parallel num_threads(threads)
    {
      omp_set_lock(&in.lock);
      count++;
      omp_unset_lock(&in.lock);
    }
    omp_destroy_lock(&in.lock);
    CHECK_EQ(count, threads);
    CHECK_EQ(in.before, expected);
    for (int i = 0; i < 3; i++) CHECK_EQ(in.after[i], expected);
  }
}

static void many(int threads)
{
  enum { locks = 200 };
  omp_lock_t lock[locks];
  int count[locks] = {0};
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < locks; i++) omp_init_lock(&lock[i]);
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < locks; i++) {
      int mine = (i * 7 + omp_get_thread_num() * 13) % locks;
      omp_set_lock(&lock[mine]);
      count[mine]++;
      omp_unset_lock(&lock[mine]);
    }
    for (int i = 0; i < locks; i++) omp_destroy_lock(&lock[i]);
  }
  for (int i = 0; i < locks; i++) CHECK_EQ(count[i], 5 * threads);
}

// Two locks at a time, always in one order.
static void philosophers(int threads)
{
  if (threads < 2) return;
  omp_lock_t fork[most_members];
  int meals = 0;
  for (int i = 0; i < threads; i++) omp_init_lock(&fork[i]);
#pragma omp parallel num_threads(threads)
  {
    int a = omp_get_thread_num(), b = (a + 1) % threads, first = a < b ? a : b, second = a < b ? b : a;
    for (int i = 0; i < 15; i++) {
      omp_set_lock(&fork[first]);
      omp_set_lock(&fork[second]);
#pragma omp atomic
      meals++;
      omp_unset_lock(&fork[second]);
      omp_unset_lock(&fork[first]);
    }
  }
  CHECK_EQ(meals, 15 * threads);
  for (int i = 0; i < threads; i++) omp_destroy_lock(&fork[i]);
}

#ifdef __clang__  // libgomp does not have these routines
static void hinted(int threads)
{
  static const int hints[] = {omp_sync_hint_none, omp_sync_hint_uncontended, omp_sync_hint_contended,
                              omp_sync_hint_nonspeculative, omp_sync_hint_speculative,
                              omp_sync_hint_contended | omp_sync_hint_nonspeculative};
  for (int h = 0; h < 6; h++) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int count = 0, nested = 0;
    omp_init_lock_with_hint(&lock, (omp_sync_hint_t)hints[h]);
    omp_init_nest_lock_with_hint(&nest, (omp_sync_hint_t)hints[h]);
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < 10; i++) {
      omp_set_lock(&lock);
      count++;
      omp_unset_lock(&lock);
      omp_set_nest_lock(&nest);
      omp_set_nest_lock(&nest);
      nested++;
      omp_unset_nest_lock(&nest);
      omp_unset_nest_lock(&nest);
    }
    CHECK_EQ(count, 10 * threads);
    CHECK_EQ(nested, 10 * threads);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
  }
}
#endif

int main(void)
{
  everywhere(exclusive, tested, held_over_barriers, slow_holder, region_inside, neighbours, many,
             philosophers);
#ifdef __clang__
  everywhere(hinted);
#endif
  return check_result();
}
