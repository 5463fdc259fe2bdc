// SPDX-License-Identifier: Apache-2.0
// threadprivate: a copy for each member, copyin, persistence between level-1 regions, and a primary member that keeps the
// copy of the thread that opened the region, however deep.
#include "../support/check.h"
#include "../support/everywhere.h"

static int counter = 7;
static long table[100];
static struct {
  int a;
  double b;
} record = {1, 2.5};
#pragma omp threadprivate(counter, table, record)

int shown_elsewhere = 3;  // external linkage: another TLS access than that of the statics
#pragma omp threadprivate(shown_elsewhere)

static void distinct(int threads)
{
  int *where[most_members];
  int mine_before = counter;
  int *outside = &counter;
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    where[me] = &counter;
    int before = counter;
    counter = 1000 + me;
    shown_elsewhere = 2000 + me;
    for (int i = 0; i < 100; i++) table[i] = me * i;
#pragma omp barrier
    CHECK_EQ(counter, 1000 + me);
    CHECK_EQ(shown_elsewhere, 2000 + me);
    for (int i = 0; i < 100; i++) CHECK_EQ(table[i], me * i);
#pragma omp barrier
    CHECK_PTR(&counter, where[me]);
    counter = me == 0 ? mine_before : before;
  }
  CHECK_PTR(where[0], outside);
  CHECK_PTR(&counter, outside);
  CHECK_EQ(counter, mine_before);
  for (int i = 0; i < threads; i++)
    for (int j = 0; j < i; j++) CHECK(where[i] != where[j]);
}

static void copied_in(int threads)
{
  for (int round = 0; round < 4; round++) {
    counter = 50 + round;
    record.a = round, record.b = round + 0.25;
    for (int i = 0; i < 100; i++) table[i] = i + round;
#pragma omp parallel num_threads(threads) copyin(counter, record, table)
    {
      CHECK_EQ(counter, 50 + round);
      CHECK_EQ(record.a, round);
      CHECK_NEAR(record.b, round + 0.25, 0);
      for (int i = 0; i < 100; i++) CHECK_EQ(table[i], i + round);
#pragma omp barrier
      counter += omp_get_thread_num(), record.a = -1, table[99] = -1;
    }
    CHECK_EQ(counter, 50 + round);
  }
}

// A member of an inner team is copied what its own outer member has, not what the initial thread has.
static void copied_in_by_members(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    counter = 300 + me;
#pragma omp barrier
#pragma omp parallel num_threads(3) copyin(counter)
    {
      CHECK_EQ(counter, 300 + me);
#pragma omp barrier
      counter = -omp_get_thread_num();
    }
    CHECK_EQ(counter, 0);  // the inner primary is this member
  }
}

// Between consecutive level-1 regions of one size every member keeps its data, whatever happens in between and inside.
static void persistent(int threads)
{
#pragma omp parallel num_threads(threads)
  counter = 10 * omp_get_thread_num();
  for (int round = 1; round <= 20; round++) {
    if (round % 3 == 0) {
#pragma omp parallel if (0)
      CHECK_EQ(omp_get_num_threads(), 1);
    }
#pragma omp parallel num_threads(threads)
    {
      CHECK_EQ(counter, 10 * omp_get_thread_num() + round - 1);
      counter++;
      if (round % 5 == 0) {
#pragma omp parallel num_threads(3)
        if (omp_get_thread_num()) counter = -12345;
      }
    }
  }
}

static int first_use = 99;
#pragma omp threadprivate(first_use)

int main(void)
{
  omp_set_dynamic(0);
  omp_set_max_active_levels(4);
  int fresh = 0;
#pragma omp parallel num_threads(9) reduction(+ : fresh)
  fresh += first_use == 99;
  CHECK_EQ(fresh, 9);
  everywhere(distinct, copied_in, copied_in_by_members);
  persistent(1);
  persistent(2);
  persistent(5);
  persistent(16);
  return check_result();
}
