// SPDX-License-Identifier: Apache-2.0
// The masks of LLVM's and Intel's runtimes: each member binds itself to a CPU, and stays there; others are not touched.
#define _GNU_SOURCE
#include "../support/check.h"

#include <omp.h>
#include <sched.h>
#include <unistd.h>

extern int kmp_set_thread_affinity_mask_initial(void);

static int cpus[1024], cpu_count;

static cpu_set_t own_mask(void)
{
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CHECK_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  return mask;
}

static void expect_only(int cpu)
{
  cpu_set_t mask = own_mask();
  CHECK_EQ(CPU_COUNT(&mask), 1);
  CHECK(CPU_ISSET((size_t)cpu, &mask));
}

static void check_masks(void)
{
  kmp_affinity_mask_t mask;
  int most = kmp_get_affinity_max_proc(), here = cpus[0];
  CHECK_EQ(most, cpus[cpu_count - 1] + 1);
  kmp_create_affinity_mask(&mask);
  for (int cpu = 0; cpu < most; cpu++) CHECK_EQ(kmp_get_affinity_mask_proc(cpu, &mask), 0);
  CHECK_EQ(kmp_set_affinity_mask_proc(here, &mask), 0);
  CHECK_EQ(kmp_get_affinity_mask_proc(here, &mask), 1);
  CHECK_EQ(kmp_unset_affinity_mask_proc(here, &mask), 0);
  CHECK_EQ(kmp_get_affinity_mask_proc(here, &mask), 0);
  CHECK_EQ(kmp_set_affinity_mask_proc(-1, &mask), -1);
  CHECK_EQ(kmp_set_affinity_mask_proc(most, &mask), -1);
  CHECK(kmp_set_affinity(&mask) != 0);  // nobody can run nowhere
  CHECK_EQ(kmp_get_affinity(&mask), 0);
  for (int i = 0; i < cpu_count; i++) CHECK_EQ(kmp_get_affinity_mask_proc(cpus[i], &mask), 1);
  kmp_destroy_affinity_mask(&mask);
}

static void bind_to(int cpu)
{
  kmp_affinity_mask_t mask;
  kmp_create_affinity_mask(&mask);
  CHECK_EQ(kmp_set_affinity_mask_proc(cpu, &mask), 0);
  CHECK_EQ(kmp_set_affinity(&mask), 0);
  kmp_destroy_affinity_mask(&mask);
  expect_only(cpu);
}

int main(void)
{
  cpu_set_t all = own_mask();
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET((size_t)cpu, &all)) cpus[cpu_count++] = cpu;
  check_masks();

  // The initial thread alone: its binding is not handed on to the members of its teams.
  bind_to(cpus[cpu_count - 1]);
#pragma omp parallel num_threads(4)
  {
    cpu_set_t mask = own_mask();
    if (omp_get_thread_num() == 0) CHECK_EQ(CPU_COUNT(&mask), 1);
#pragma omp barrier
    bind_to(cpus[omp_get_thread_num() % cpu_count]);
    for (int i = 0; i < TIMES(50); i++) {
#pragma omp barrier
      expect_only(cpus[omp_get_thread_num() % cpu_count]);
    }
    if (omp_get_thread_num() == 1) usleep(3000);
#pragma omp barrier
    expect_only(cpus[omp_get_thread_num() % cpu_count]);
  }
  // They stay bound in the next region.
#pragma omp parallel num_threads(4)
  expect_only(cpus[omp_get_thread_num() % cpu_count]);

#pragma omp parallel num_threads(4)
  {
    CHECK_EQ(kmp_set_thread_affinity_mask_initial(), 0);
    cpu_set_t mask = own_mask();
    CHECK(CPU_EQUAL(&mask, &all));
  }
  return check_result();
}
