// SPDX-License-Identifier: Apache-2.0
// Explicit tasks: from one producer, from a producer that pauses, from tasks, in loops, in order, by priority.
#include "spread.h"

static void produce(int count) {
  for (int i = 0; i < count; i++) {
#pragma omp task
    work();
  }
}

// To the barrier of the construct, and to a taskwait, where the producer helps.
static void one_producer(int cpus) {
#pragma omp parallel
#pragma omp single
  produce(8 * cpus);
}

static void task_wait(int cpus) {
#pragma omp parallel
#pragma omp single
  {
    produce(8 * cpus);
#pragma omp taskwait
  }
}

// More than a deque holds: the producer runs some itself.
static void deque_full(int cpus) {
  (void)cpus;
#pragma omp parallel
#pragma omp single
  produce(640);
}
static int deque_full_ideal(int cpus) { return (640 + cpus - 1) / cpus; }

// The others have found nothing for so long that they sleep.
static void burst(int cpus) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 3; i++) {
    pause_ms(30);
    begin_clock();
#pragma omp taskgroup
    produce(8 * cpus);
    end_clock();
  }
}

static void burst_without_barrier(int cpus) {
#pragma omp parallel
#pragma omp master
  for (int i = 0; i < 3; i++) {
    pause_ms(30);
    begin_clock();
#pragma omp taskgroup
    produce(8 * cpus);
    end_clock();
  }
}

// One task for each: as many wake-ups as there are members, and the last of them decides.
static void small_burst(int cpus) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 3; i++) {
    pause_ms(30);
    begin_clock();
#pragma omp taskgroup
    produce(cpus);
    end_clock();
  }
}

// Tasks that are made one by one while others run.
static void trickle(int cpus) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 3; i++) {
    pause_ms(30);
    begin_clock();
#pragma omp taskgroup
    for (int k = 0; k < 4 * cpus; k++) {
#pragma omp task
      work();
      const double until = spread_now() + 20e-6;
      while (spread_now() < until) continue;
    }
    end_clock();
  }
}

static void grow(int leaves) {
  if (leaves == 1) {
    work();
    return;
  }
#pragma omp task
  grow(leaves / 2);
#pragma omp task
  grow(leaves - leaves / 2);
#pragma omp taskwait
}
static void tree(int cpus) {
#pragma omp parallel
#pragma omp single
  grow(8 * cpus);
}

// Without taskwait, after a pause, and from a member that is not the primary.
static void scatter(int leaves) {
  if (leaves == 1) {
    work();
    return;
  }
#pragma omp task
  scatter(leaves / 2);
#pragma omp task
  scatter(leaves - leaves / 2);
}
static void late_tree(int cpus) {
#pragma omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) {
    pause_ms(30);
    begin_clock();
#pragma omp taskgroup
    scatter(8 * cpus);
    end_clock();
  }
}

// Whoever has been woken for a task makes more: nobody else may be awake.
static void task_of_tasks(int cpus) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 3; i++) {
    pause_ms(30);
    begin_clock();
#pragma omp taskgroup
    {
#pragma omp task
      produce(8 * cpus);
    }
    end_clock();
  }
}

static void several_producers(int cpus) {
#pragma omp parallel
  {
#pragma omp barrier
#pragma omp master
    begin_clock();
#pragma omp barrier
    if (omp_get_thread_num() % 4 == 0) produce(4 * 8);
#pragma omp barrier
#pragma omp master
    end_clock();
  }
  (void)cpus;
}

static void task_loop(int cpus) {
  const unsigned long count = 8UL * (unsigned long)cpus;  // of clang's own type for it
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
  for (unsigned long i = 0; i < count; i++) work();
}
static void late_task_loop(int cpus) {
  const unsigned long count = 8UL * (unsigned long)cpus;  // of clang's own type for it
#pragma omp parallel
#pragma omp single
  {
    pause_ms(30);
    begin_clock();
#pragma omp taskloop num_tasks(count)
    for (unsigned long i = 0; i < count; i++) work();
    end_clock();
  }
}

static char places[spread_most_threads];
// Chains: each end makes one task ready.
static void chains(int cpus) {
#pragma omp parallel
#pragma omp single
  for (int step = 0; step < 8; step++) {
    for (int i = 0; i < cpus; i++) {
#pragma omp task depend(inout : places[i])
      work();
    }
  }
}
// One that all others wait for, then all, then one again: an end makes many ready at once.
static void fan_out(int cpus) {
#pragma omp parallel
#pragma omp single
  for (int step = 0; step < 4; step++) {
#pragma omp task depend(out : places[0])
    work();
    for (int i = 0; i < 3 * cpus; i++) {
#pragma omp task depend(in : places[0])
      work();
    }
  }
}
static int fan_out_ideal(int cpus) { return (void)cpus, 16; }

static void priorities(int cpus) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 3; i++) {
    pause_ms(30);
    begin_clock();
#pragma omp taskgroup
    for (int k = 0; k < 8 * cpus; k++) {
#pragma omp task priority(k % 3)
      work();
    }
    end_clock();
  }
}

static void detached(int cpus) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 8 * cpus; i++) {
    omp_event_handle_t event;
#pragma omp task detach(event)
    {
      work();
      omp_fulfill_event(event);
    }
  }
}

// In a region inside a region: a team without a crew.
static void inner_producer(int cpus) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(cpus / 2)
#pragma omp single
  produce(4 * cpus);
}
static void inner_burst(int cpus) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(cpus / 2)
#pragma omp single
  {
    pause_ms(30);
    if (omp_get_ancestor_thread_num(1) == 0) begin_clock();
#pragma omp taskgroup
    produce(4 * cpus);
  }
}

// More members than CPUs.
static void many_members(int cpus) {
#pragma omp parallel num_threads(2 * cpus)
#pragma omp single
  {
    pause_ms(30);
    begin_clock();
#pragma omp taskgroup
    produce(8 * cpus);
    end_clock();
  }
}

// Deferred target regions are tasks.
static void target(int cpus) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 8 * cpus; i++) {
#pragma omp target nowait
    work();
  }
}

static const spread_case cases[] = {
    {"one_producer", one_producer, eight_sleeps, 0},
    {"task_wait", task_wait, eight_sleeps, 0},
    {"deque_full", deque_full, deque_full_ideal, 0},
    {"burst", burst, eight_sleeps, 0},
    {"burst_without_barrier", burst_without_barrier, eight_sleeps, 0},
    {"small_burst", small_burst, one_sleep, 0},
    {"trickle", trickle, four_sleeps, 0},
    {"tree", tree, eight_sleeps, 0},
    {"late_tree", late_tree, eight_sleeps, 0},
    {"task_of_tasks", task_of_tasks, eight_sleeps, 0},
    {"several_producers", several_producers, eight_sleeps, 0},
    {"task_loop", task_loop, eight_sleeps, 0},
    {"late_task_loop", late_task_loop, eight_sleeps, 0},
    {"chains", chains, eight_sleeps, 0},
    {"fan_out", fan_out, fan_out_ideal, 0},
    {"priorities", priorities, eight_sleeps, 0},
    {"detached", detached, eight_sleeps, 0},
    {"inner_producer", inner_producer, eight_sleeps, 0},
    {"inner_burst", inner_burst, eight_sleeps, 0},
    {"many_members", many_members, eight_sleeps, 0},
    {"target", target, eight_sleeps, 0},
};

int main(int argc, char** argv) { return check_spread(cases, (int)(sizeof cases / sizeof *cases), argc, argv); }
