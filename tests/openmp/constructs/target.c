// SPDX-License-Identifier: Apache-2.0
// Target constructs where the host is the only device: regions, data environments, tasks of them, leagues inside.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <limits.h>

enum { n = 64 };

#pragma omp declare target
static int doubled(int value) { return 2 * value; }
static int declared = 7;
#pragma omp end declare target

static void mapping(int threads)
{
  int a[n], sum = 0, scalar = 5;
  for (int i = 0; i < n; i++) a[i] = i;
#pragma omp target map(tofrom : a, sum) map(always, to : scalar) device(omp_get_initial_device())
  {
    for (int i = 0; i < n; i++) sum += a[i];
    a[0] = doubled(scalar) + declared;
  }
  CHECK_EQ(sum, n * (n - 1) / 2);
  CHECK_EQ(a[0], 17);

  int *p = a;
#pragma omp target data map(tofrom : p[8 : 16]) use_device_addr(sum)
  {
#pragma omp target map(p[8 : 16])
    p[8] = 100 + threads;
#pragma omp target update from(p[8 : 16])
    CHECK_EQ(p[8], 100 + threads);
    p[9] = 1;
#pragma omp target update to(p[9 : 1])
#pragma omp target map(p[8 : 16])
    p[9]++;
  }
  CHECK_EQ(a[9], 2);
#pragma omp target enter data map(to : a)
#pragma omp target
  a[1] = 77;
#pragma omp target exit data map(from : a)
  CHECK_EQ(a[1], 77);
#pragma omp target data map(to : a) use_device_ptr(p)
  CHECK_PTR(p, a);
#pragma omp target is_device_ptr(p)
  p[2] = 78;
  CHECK_EQ(a[2], 78);
}

struct triple {
  double x;
  char c;
  long y;
};

static void copies(void)
{
  int i = 1, array[20];
  struct triple t = {1.5, 'a', 3};
  char odd[3] = "ab";
  long long wide = 1LL << 40;
  for (int k = 0; k < 20; k++) array[k] = k;
  long seen = 0;
#pragma omp target firstprivate(i, array, t, odd, wide) map(tofrom : seen)
  {
    CHECK_EQ((size_t)&t % _Alignof(struct triple), 0);
    CHECK_EQ((size_t)array % _Alignof(int), 0);
    seen = i + array[19] + (long)t.x + t.y + (odd[1] == 'b') + (wide == 1LL << 40);
    i = 100;
    array[19] = 100;
    t.y = 100;
    odd[1] = 'z';
  }
  CHECK_EQ(seen, 1 + 19 + 1 + 3 + 1 + 1);
  CHECK_EQ(i, 1);
  CHECK_EQ(array[19], 19);
  CHECK_EQ(t.y, 3);
  CHECK_EQ(odd[1], 'b');
}

// What a task of a region sees is what was when it was created.
static void copies_of_tasks(int threads)
{
  int seen[n];
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    struct triple t = {0, 'a', 0};
    int array[20] = {0};
    for (int i = 0; i < n; i++) {
      t.y = i;
      array[13] = 2 * i;
#pragma omp target firstprivate(t, array, i) map(from : seen[i : 1]) nowait
      seen[i] = (int)t.y + array[13] + i;
    }
    t.y = -1;
    array[13] = -1;
#pragma omp taskwait
  }
  for (int i = 0; i < n; i++) CHECK_EQ(seen[i], 4 * i);
}

static void order(int threads)
{
  int x = 0, other = 0, ends = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x)
    x = 1;
#pragma omp target map(tofrom : x) depend(inout : x) nowait
    x = x * 10 + 2;
#pragma omp target enter data map(to : x) depend(inout : x) nowait
#pragma omp target map(tofrom : x) depend(inout : x)
    x = x * 10 + 3;
    CHECK_EQ(x, 123);
#pragma omp target map(tofrom : x) depend(inout : x) nowait
    x = x * 10 + 4;
#ifdef __clang__
    // clang 19 drops what moves data, depend clauses and all, where there is nothing to offload to.
#pragma omp task depend(in : x) shared(x, ends)
    ends = x;
#pragma omp taskwait
#else
#pragma omp target update from(x) depend(inout : x) nowait
#pragma omp target exit data map(from : x) depend(in : x) depend(out : other) nowait
#pragma omp task depend(in : other) shared(x, ends)
    ends = x;
#endif
#pragma omp taskgroup
    {
#pragma omp target map(tofrom : other) nowait
      other = 9;
    }
    CHECK_EQ(other, 9);
#pragma omp target update to(other) depend(in : x)
    CHECK_EQ(x, 1234);
  }
  CHECK_EQ(ends, 1234);
}

static void conditions(int on, int limit)
{
  int inside = 0, threads = 0, teams = 0, level = -1;
#pragma omp target if (on) map(from : inside, level) thread_limit(limit)
  {
    inside = omp_is_initial_device();
    level = omp_get_level();
#ifndef __clang__
    // clang calls the region like a function where there is nothing to offload to.
    CHECK_EQ(omp_get_level(), 0);
    CHECK_EQ(omp_in_parallel(), 0);
    CHECK_EQ(omp_get_num_teams(), 1);
    CHECK_EQ(omp_get_team_num(), 0);
    CHECK_EQ(omp_get_thread_limit(), limit);
#endif
  }
  CHECK_EQ(inside, 1);
  CHECK(level >= 0);
#pragma omp target map(tofrom : threads)
#pragma omp parallel num_threads(3) reduction(+ : threads)
  threads += omp_get_num_threads() > 0;
  CHECK_IN(threads, 1, 4);
#pragma omp target parallel num_threads(2) map(tofrom : threads)
#pragma omp atomic
  threads++;
#pragma omp target teams num_teams(3) thread_limit(2) map(tofrom : teams)
#pragma omp parallel num_threads(1)
  {
#pragma omp atomic
    teams += 1 << (4 * omp_get_team_num());
    CHECK_EQ(omp_get_num_teams(), 3);
    CHECK_EQ(omp_get_thread_limit(), 2);
  }
  CHECK_EQ(teams, 0x111);
}

static void leagues(int threads)
{
  int a[1000], sum = 0;
  for (int i = 0; i < 1000; i++) a[i] = 0;
#pragma omp target teams distribute parallel for num_teams(threads) thread_limit(4) map(tofrom : a)
  for (int i = 0; i < 1000; i++) a[i] += i;
  for (int i = 0; i < 1000; i++) CHECK_EQ(a[i], i);
#pragma omp target teams distribute map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < 1000; i++) sum += a[i];
  CHECK_EQ(sum, 499500);
#pragma omp target teams map(tofrom : a) num_teams(4)
#pragma omp distribute dist_schedule(static, 7)
  for (int i = 0; i < 1000; i++) {
#pragma omp parallel for num_threads(2)
    for (int k = 0; k < 2; k++)
#pragma omp atomic
      a[i] += k;
  }
  for (int i = 0; i < 1000; i++) CHECK_EQ(a[i], i + 1);
#pragma omp target teams loop map(tofrom : a)
  for (int i = 0; i < 1000; i++) a[i]--;
#pragma omp target simd map(tofrom : a)
  for (int i = 0; i < 1000; i++) a[i] *= 2;
  for (int i = 0; i < 1000; i++) CHECK_EQ(a[i], 2 * i);
}

#ifndef __clang__
// clang 19 does not know in_reduction there, and has these routines in a library of its own.
static void reductions(int threads)
{
  int sum = 0;
#pragma omp parallel num_threads(threads) reduction(task, + : sum)
  for (int i = 0; i < 10; i++)
#pragma omp target in_reduction(+ : sum) nowait
    sum += i;
  CHECK_EQ(sum, 45 * (omp_get_max_active_levels() > omp_get_active_level() ? threads : 1));
#pragma omp taskgroup task_reduction(+ : sum)
  {
#pragma omp target in_reduction(+ : sum)
    sum += 1000;
  }
  CHECK(sum >= 1045);
}
static void memory_routines(int threads)
{
  const int host = omp_get_initial_device();
  int *memory = omp_target_alloc(n * sizeof *memory, host), values[n];
  CHECK(memory != NULL);
  for (int i = 0; i < n; i++) values[i] = threads + i;
  CHECK_EQ(omp_target_memcpy(memory, values, sizeof values, 0, 0, host, host), 0);
#pragma omp target is_device_ptr(memory)
  for (int i = 0; i < n; i++) memory[i]++;
  CHECK_EQ(omp_target_memcpy(values, memory, 4 * sizeof *values, 0, 8 * sizeof *values, host, host), 0);
  CHECK_EQ(values[0], threads + 9);
  const size_t volume[] = {2, 3}, to[] = {1, 1}, from[] = {0, 2}, sizes[] = {8, 8};
  CHECK_EQ(omp_target_memcpy_rect(values, memory, sizeof *values, 2, volume, to, from, sizes, sizes, host, host), 0);
  CHECK_EQ(values[9], memory[2]);
  CHECK_EQ(values[19], memory[12]);
  CHECK_EQ(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, host, host), INT_MAX);
  CHECK(omp_target_is_present(memory, host));
  CHECK(omp_target_alloc(8, host + 5) == NULL);
  CHECK(omp_target_memcpy(values, memory, 4, 0, 0, host + 5, host) != 0);
  omp_target_free(memory, host);
}
#endif

// Numbers of default devices are of the task that sets them.
static void default_devices(void)
{
  const int before = omp_get_default_device();
  CHECK_EQ(omp_get_num_devices(), omp_get_initial_device());
  CHECK_EQ(omp_get_device_num(), omp_get_initial_device());
#pragma omp parallel num_threads(4)
  {
    omp_set_default_device(omp_get_thread_num());
#pragma omp barrier
    CHECK_EQ(omp_get_default_device(), omp_get_thread_num());
  }
  CHECK_EQ(omp_get_default_device(), before);
}

static void all(int threads)
{
  mapping(threads);
  copies();
  copies_of_tasks(threads);
  order(threads);
  conditions(1, 3);
  conditions(0, 1);
  leagues(threads);
#ifndef __clang__
  reductions(threads);
  memory_routines(threads);
#endif
}

int main(void)
{
  everywhere(all);
  default_devices();
  return check_result();
}
