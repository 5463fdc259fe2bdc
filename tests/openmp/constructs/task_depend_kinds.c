// SPDX-License-Identifier: Apache-2.0
// The kinds of dependences beside in and out: objects, iterators, mutexinoutset, inoutset, omp_all_memory, taskwait.
#include "../support/check.h"
#include "../support/everywhere.h"

static void depend_objects(int threads)
{
  int x = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    omp_depend_t writer, reader;
#pragma omp depobj(writer) depend(inout : x)
#pragma omp depobj(reader) depend(in : x)
    for (int i = 1; i <= 20; i++) {
#pragma omp task depend(depobj : writer) shared(x) firstprivate(i)
      x = i;
#pragma omp task depend(depobj : reader) shared(x, wrong) firstprivate(i)
      if (x != i) {
#pragma omp atomic
        wrong++;
      }
    }
#pragma omp taskwait
#pragma omp depobj(reader) update(out)
#pragma omp task depend(depobj : reader) shared(x)
    x = 100;
#pragma omp task depend(depobj : writer) shared(x, wrong)
    wrong += x != 100;
#pragma omp taskwait
#pragma omp depobj(writer) destroy
#pragma omp depobj(reader) destroy
  }
  CHECK_EQ(wrong, 0);
}

static void iterators(int threads)
{
  enum { n = 16 };
  int parts[n] = {0}, sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    for (int i = 0; i < n; i++) {
#pragma omp task depend(out : parts[i]) shared(parts) firstprivate(i)
      parts[i] = i + 1;
    }
#pragma omp task depend(iterator(int i = 0 : n), in : parts[i]) shared(parts, sum)
    for (int i = 0; i < n; i++) sum += parts[i];
  }
  CHECK_EQ(sum, n * (n + 1) / 2);
}

static void mutexinoutset(int threads)
{
  int sum = 0, inside = 0, wrong = 0, first = 0, last = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp task depend(out : sum) shared(sum, first)
    sum = first = 1;
    for (int i = 0; i < 20; i++) {
#pragma omp task depend(mutexinoutset : sum) shared(sum, inside, wrong, first)
      {
        int others;
#pragma omp atomic capture
        others = inside++;
        if (others || !first) wrong++;
        sum++;
#pragma omp atomic
        inside--;
      }
    }
#pragma omp task depend(in : sum) shared(sum, last)
    last = sum;
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(last, 21);
}

static void taskwait_depend(int threads)
{
  int x = 0, y = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 1; i <= 10; i++) {
#pragma omp task depend(inout : x) shared(x)
    x++;
#pragma omp task depend(inout : y) shared(y)
    y++;
#pragma omp taskwait depend(in : x)
    if (x != i) wrong++;
#pragma omp taskwait depend(in : x, y)
    if (y != i) wrong++;
  }
  CHECK_EQ(wrong, 0);
}

// An undeferred task waits where it stands, and is waited for.
static void undeferred(int threads)
{
  int x = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 10; i++) {
#pragma omp task depend(inout : x) shared(x)
    x++;
#pragma omp task depend(inout : x) if (0) shared(x, wrong)
    if (x++ != 2 * i + 1) wrong++;
    if (x != 2 * i + 2) wrong++;
  }
  CHECK_EQ(wrong, 0);
}

// The same location twice, and many locations: the table grows.
static void many_locations(int threads)
{
  enum { n = 3000 };
  int cells[n];
  memset(cells, 0, sizeof cells);
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int round = 0; round < 3; round++)
    for (int i = 1; i < n; i++) {
#pragma omp task depend(in : cells[i - 1], cells[i]) depend(inout : cells[i]) firstprivate(i, round)
      if (cells[i] == round) cells[i]++;
    }
  for (int i = 1; i < n; i++) CHECK_EQ(cells[i], 3);
}

// Many readers between two writers, and dependences of tasks inside tasks.
static void wide_and_deep(int threads)
{
  int x = 0, reads = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int round = 0; round < 4; round++) {
#pragma omp task depend(out : x) shared(x, reads, wrong) firstprivate(round)
    {
      if (reads != 200 * round) wrong++;
      x = round;
      int inner = 0;
      for (int i = 0; i < 10; i++) {
#pragma omp task depend(inout : inner) shared(inner)
        inner++;
      }
#pragma omp taskwait
      if (inner != 10) wrong++;
    }
    for (int i = 0; i < 200; i++) {
#pragma omp task depend(in : x) shared(x, reads, wrong) firstprivate(round)
      {
        if (x != round) {
#pragma omp atomic
          wrong++;
        }
#pragma omp atomic
        reads++;
      }
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(reads, 800);
}

#ifdef __clang__
static void inoutset(int threads)
{
  int x = 0, members = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x)
    x = 1;
    for (int i = 0; i < 8; i++) {
#pragma omp task depend(inoutset : x) shared(x, members, wrong)
      {
        if (x != 1) {
#pragma omp atomic
          wrong++;
        }
#pragma omp atomic
        members++;
      }
    }
#pragma omp task depend(in : x) shared(members, wrong)
    wrong += members != 8;
#pragma omp task depend(inoutset : x) shared(members)
    members++;
#pragma omp task depend(out : x) shared(members, wrong)
    wrong += members != 9;
  }
  CHECK_EQ(wrong, 0);
}

static void all_memory(int threads)
{
  int x = 0, y = 0, z = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 1; i <= 10; i++) {
#pragma omp task depend(out : x) shared(x)
    x++;
#pragma omp task depend(out : y) shared(y)
    y++;
#pragma omp task depend(inout : omp_all_memory) shared(x, y, z, wrong) firstprivate(i)
    {
      if (x != i || y != i) wrong++;
      z++;
    }
#pragma omp task depend(in : z) shared(z, wrong) firstprivate(i)
    if (z != i) {
#pragma omp atomic
      wrong++;
    }
  }
  CHECK_EQ(wrong, 0);
}
#endif

int main(void)
{
  everywhere(depend_objects, iterators, mutexinoutset, taskwait_depend, undeferred, many_locations,
             wide_and_deep);
#ifdef __clang__
  everywhere(inoutset, all_memory);
#endif
  return check_result();
}
