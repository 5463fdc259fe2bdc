// SPDX-License-Identifier: Apache-2.0
// What OpenMP promises to the iterations of a loop holds whoever runs them: thread numbers that nobody else has at the
// same time, also where loops nest; sizes of chunks; reductions; lastprivate; tasks; regions inside that are no loops;
// several threads of the program at once; the child of a fork.
#include "../../openmp/support/check.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { MOST_THREADS = 64, OUTER = 12, INNER = 24 };

static void spin(int turns) {
  for (volatile int i = 0; i < turns; ++i) {
  }
}

// Scratch memory by thread number, as programs have it. In a function of its own: a loop that asks for the number by
// itself would keep the members of a static schedule.
struct scratch {
  atomic_int busy[MOST_THREADS];
};

__attribute__((noinline)) static int enter(struct scratch *scratch) {
  int number = omp_get_thread_num();
  CHECK_IN(number, 0, omp_get_num_threads());
  CHECK_EQ(atomic_fetch_add(&scratch->busy[number], 1), 0);
  return number;
}

__attribute__((noinline)) static void leave(struct scratch *scratch, int number) {
  CHECK_EQ(omp_get_thread_num(), number);
  CHECK_EQ(atomic_fetch_sub(&scratch->busy[number], 1), 1);
}

static void numbers(void) {
  struct scratch scratch = {0};
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; ++i) {
    int number = enter(&scratch);
    CHECK_EQ(omp_get_level(), 1);
    spin(50);
    sum += i;
    leave(&scratch, number);
  }
  CHECK_EQ(sum, 1000 * 999 / 2);
  CHECK_EQ(omp_get_level(), 0);
  CHECK_EQ(omp_get_thread_num(), 0);
}

// A thread that waits for an inner loop must not begin another iteration of the outer one under its number.
static void nested(void) {
  struct scratch outer = {0};
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < OUTER; ++i) {
    int number = enter(&outer);
    struct scratch inner = {0};
    long part = 0;
#pragma omp parallel for reduction(+ : part)
    for (int j = 0; j < INNER; ++j) {
      int inner_number = enter(&inner);
      CHECK_EQ(omp_get_level(), 2);
      CHECK_EQ(omp_get_ancestor_thread_num(1), number);
      struct scratch innermost = {0};
#pragma omp parallel for
      for (int k = 0; k < 4; ++k) {
        int innermost_number = enter(&innermost);
        spin(20);
        leave(&innermost, innermost_number);
      }
      part += i * j;
      leave(&inner, inner_number);
    }
    sum += part;
    leave(&outer, number);
  }
  CHECK_EQ(sum, OUTER * (OUTER - 1) / 2 * INNER * (INNER - 1) / 2);
}

// The same where threads do wait: others are still asleep in the iterations that they have taken.
static void waits(void) {
  struct scratch outer = {0};
  atomic_int sum = 0;
#pragma omp parallel for
  for (int i = 0; i < 16; ++i) {
    int number = enter(&outer);
#pragma omp parallel for
    for (int j = 0; j < 8; ++j) {
      usleep(100);
      atomic_fetch_add(&sum, 1);
    }
    leave(&outer, number);
  }
  CHECK_EQ(sum, 16 * 8);
}

static void limits(void) {
  for (int threads = 1; threads <= 5; ++threads) {
    struct scratch scratch = {0};
    atomic_int together = 0;
#pragma omp parallel for num_threads(threads)
    for (int i = 0; i < 200; ++i) {
      int number = enter(&scratch);
      CHECK_EQ(omp_get_num_threads(), threads);
      CHECK(atomic_fetch_add(&together, 1) < threads);
      spin(50);
      atomic_fetch_sub(&together, 1);
      leave(&scratch, number);
    }
  }
}

static void schedules(int n) {
  int hits[1000] = {0};
  int last = -1;
  int maximum = -1;
#pragma omp parallel for schedule(dynamic, 3) lastprivate(last)
  for (int i = 0; i < n; ++i) {
    hits[i]++;
    last = i;
  }
#pragma omp parallel for schedule(guided, 2) reduction(max : maximum)
  for (int i = 0; i < n; ++i) {
    hits[i]++;
    if (i > maximum) maximum = i;
  }
#pragma omp parallel for schedule(monotonic : dynamic, 2)
  for (int i = 0; i < n; ++i) hits[i]++;
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < n; ++i) hits[i]++;
#pragma omp parallel for schedule(auto)
  for (int i = 0; i < n; ++i) hits[i]++;
  for (int i = 0; i < n; ++i) CHECK_EQ(hits[i], 5);
  CHECK_EQ(last, n - 1);
  CHECK_EQ(maximum, n - 1);
}

// The chunks of a member come in ascending order.
static void monotonic(void) {
  int before[MOST_THREADS];
  for (int i = 0; i < MOST_THREADS; ++i) before[i] = -1;
#pragma omp parallel for schedule(monotonic : dynamic, 2)
  for (int i = 0; i < 500; ++i) {
    int number = omp_get_thread_num();
    CHECK(before[number] < i);
    before[number] = i;
  }
}

static void tasks(void) {
  atomic_long sum = 0;
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(i)
    {
#pragma omp task firstprivate(i)
      atomic_fetch_add(&sum, i);
      atomic_fetch_add(&sum, i);
    }
    if (i % 3 == 0) {
#pragma omp taskwait
    }
  }
  CHECK_EQ(sum, 2 * 100 * 99 / 2);
}

// Regions that weft runs inside of iterations that others run.
static void regions_inside(void) {
  atomic_int members = 0;
  int expected = 0;
#pragma omp parallel for reduction(+ : expected)
  for (int i = 0; i < OUTER; ++i) {
    int team = 0;
#pragma omp parallel num_threads(3)
    {
      atomic_fetch_add(&members, 1);
#pragma omp barrier
#pragma omp single
      team = omp_get_num_threads();
    }
    expected += team;
  }
  CHECK_EQ(members, expected);
}

// Loops inside a region that weft runs.
static void loops_inside(void) {
  atomic_long sum = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp barrier
    for (int round = 0; round < 5; ++round) {
#pragma omp parallel for
      for (int i = 0; i < 100; ++i) atomic_fetch_add(&sum, 1);
    }
  }
  CHECK_EQ(sum, 3 * 5 * 100);
}

static void *root(void *unused) {
  for (int round = 0; round < 20; ++round) {
    numbers();
    nested();
  }
  return unused;
}

static void roots(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, root, NULL);
  root(NULL);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
}

static void child_of_fork(void) {
  pid_t child = fork();
  if (child == 0) {
    numbers();
    schedules(100);
    _exit(check_result());
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

int main(void) {
  for (int round = 0; round < 20; ++round) {
    numbers();
    nested();
    waits();
    limits();
    monotonic();
    tasks();
    regions_inside();
    loops_inside();
  }
  for (int n = 1; n < 1000; n = 2 * n + 1) schedules(n);
  roots();
  child_of_fork();
  numbers();
  return check_result();
}
