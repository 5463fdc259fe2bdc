// SPDX-License-Identifier: Apache-2.0
// Loops and other constructs that share work, and the waits between them.
#include "spread.h"

static void loop(int cpus, int iterations) {
  (void)cpus;
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < iterations; i++) work();
}
static void by(omp_sched_t kind, int chunk, int cpus, int iterations) {
  omp_set_schedule(kind, chunk);
  loop(cpus, iterations);
}
static void static_loop(int cpus) { by(omp_sched_static, 0, cpus, 8 * cpus); }
static void static_one(int cpus) { by(omp_sched_static, 1, cpus, 8 * cpus); }
static void dynamic(int cpus) { by(omp_sched_dynamic, 1, cpus, 8 * cpus); }
// So many chunks that members have ranges of their own.
static void dynamic_many(int cpus) { by(omp_sched_dynamic, 1, cpus, 100 * cpus); }
static int hundred(int cpus) { return (void)cpus, 100; }
static void guided(int cpus) { by(omp_sched_guided, 1, cpus, 8 * cpus); }
static void automatic(int cpus) { by(omp_sched_auto, 0, cpus, 8 * cpus); }
static void monotonic(int cpus) { by(omp_sched_dynamic | omp_sched_monotonic, 1, cpus, 8 * cpus); }
static void nonmonotonic(int cpus) {
#pragma omp parallel for schedule(nonmonotonic : dynamic, 1)
  for (int i = 0; i < 8 * cpus; i++) work();
}
// All work lies in one member's part: the others come for it.
static void uneven_ranges(int cpus) {
#pragma omp parallel for schedule(nonmonotonic : dynamic, 1)
  for (int i = 0; i < 100 * cpus; i++) {
    if (i < 8 * cpus) work();
  }
}
static void inner_loop(int cpus) {
#pragma omp parallel num_threads(2)
#pragma omp parallel for schedule(dynamic, 1) num_threads(cpus / 2)
  for (int i = 0; i < 4 * cpus; i++) work();
}
static void sections(int cpus) {
  (void)cpus;
#pragma omp parallel sections num_threads(8)
  {
#pragma omp section
    work();
#pragma omp section
    work();
#pragma omp section
    work();
#pragma omp section
    work();
#pragma omp section
    work();
#pragma omp section
    work();
#pragma omp section
    work();
#pragma omp section
    work();
  }
}
static int eight_threads(int cpus) { return cpus < 8 ? cpus : 8; }
static int sections_ideal(int cpus) { return cpus < 8 ? 8 / cpus : 1; }
// Members come one by one, and long after each other.
static void late_loop(int cpus) {
#pragma omp parallel
  {
#pragma omp single
    {
      pause_ms(30);
      begin_clock();
    }
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 8 * cpus; i++) work();
#pragma omp master
    end_clock();
  }
}

// ---- waits ----

static void barriers(int cpus) {
#pragma omp parallel num_threads(cpus)
  for (int i = 0; i < 8; i++) {
    work();
#pragma omp barrier
  }
}
static void barriers_of_many(int cpus) {
#pragma omp parallel num_threads(2 * cpus)
  for (int i = 0; i < 4; i++) {
    work();
#pragma omp barrier
  }
}
// All but one wait until they sleep.
static void late_member(int cpus) {
#pragma omp parallel num_threads(cpus)
  {
    if (omp_get_thread_num() == cpus - 1) {
      pause_ms(30);
      begin_clock();
    }
#pragma omp barrier
    work();
  }
}
static void late_member_of_many(int cpus) {
#pragma omp parallel num_threads(4 * cpus)
  {
    if (omp_get_thread_num() == 4 * cpus - 1) {
      pause_ms(30);
      begin_clock();
    }
#pragma omp barrier
    work();
  }
}
static void inner_barriers(int cpus) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(cpus)
  for (int i = 0; i < 4; i++) {
    work();
#pragma omp barrier
  }
}
static void single(int cpus) {
#pragma omp parallel num_threads(cpus)
  for (int i = 0; i < 4; i++) {
#pragma omp single
    work();
    work();
  }
}
static void copyprivate(int cpus) {
#pragma omp parallel num_threads(cpus)
  for (int i = 0; i < 4; i++) {
    int value = 0;
#pragma omp single copyprivate(value)
    {
      work();
      value = i;
    }
    CHECK_EQ(value, i);
    work();
  }
}
static void critical(int cpus) {
#pragma omp parallel num_threads(cpus)
  {
#pragma omp critical
    work();
    work();
  }
}
static int critical_ideal(int cpus) { return cpus + 1; }
// Most of them wait for each other.
static int any_thread(int cpus) { return (void)cpus, 1; }
static void ordered(int cpus) {
#pragma omp parallel for ordered schedule(static, 1) num_threads(cpus)
  for (int i = 0; i < 4 * cpus; i++) {
    work();
#pragma omp ordered
    count_thread();
  }
}
// A cell needs the one above it and the one before it.
static void wavefront(int cpus) {
#pragma omp parallel for ordered(2) schedule(static, 1) num_threads(cpus)
  for (int i = 0; i < cpus; i++) {
    for (int j = 0; j < 8; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      work();
#pragma omp ordered depend(source)
    }
  }
}
static int wavefront_ideal(int cpus) { return cpus + 7; }
static void lock(int cpus) {
  omp_lock_t held;
  omp_init_lock(&held);
#pragma omp parallel num_threads(cpus)
  {
    omp_set_lock(&held);
    work();
    omp_unset_lock(&held);
    work();
  }
  omp_destroy_lock(&held);
}

static const spread_case cases[] = {
    {"static", static_loop, eight_sleeps, 0},
    {"static_one", static_one, eight_sleeps, 0},
    {"dynamic", dynamic, eight_sleeps, 0},
    {"dynamic_many", dynamic_many, hundred, 0},
    {"guided", guided, eight_sleeps, 0},
    {"auto", automatic, eight_sleeps, 0},
    {"monotonic", monotonic, eight_sleeps, 0},
    {"nonmonotonic", nonmonotonic, eight_sleeps, 0},
    {"uneven_ranges", uneven_ranges, eight_sleeps, 0},
    {"inner_loop", inner_loop, eight_sleeps, 0},
    {"sections", sections, sections_ideal, eight_threads},
    {"late_loop", late_loop, eight_sleeps, 0},
    {"barriers", barriers, eight_sleeps, 0},
    {"barriers_of_many", barriers_of_many, eight_sleeps, 0},
    {"late_member", late_member, one_sleep, 0},
    {"late_member_of_many", late_member_of_many, four_sleeps, 0},
    {"inner_barriers", inner_barriers, eight_sleeps, 0},
    {"single", single, eight_sleeps, 0},
    {"copyprivate", copyprivate, eight_sleeps, 0},
    {"critical", critical, critical_ideal, any_thread},
    {"ordered", ordered, four_sleeps, 0},
    {"wavefront", wavefront, wavefront_ideal, eight_threads},
    {"lock", lock, critical_ideal, any_thread},
};

int main(int argc, char** argv) { return check_spread(cases, (int)(sizeof cases / sizeof *cases), argc, argv); }
