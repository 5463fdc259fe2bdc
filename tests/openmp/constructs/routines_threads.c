// SPDX-License-Identifier: Apache-2.0
// The routines for numbers of threads and the control variables behind them: set in one task, they hold for it and its
// regions only; inherited by what it creates.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <unistd.h>

static void numbers(void)
{
  int most = omp_get_max_threads();
  CHECK(most >= 1);
  CHECK_EQ(omp_get_num_threads(), 1);
  CHECK_EQ(omp_get_thread_num(), 0);
  CHECK_EQ(omp_in_parallel(), 0);
  CHECK_IN(omp_get_num_procs(), 1, 100000);
  CHECK(omp_get_thread_limit() >= 1);

  int members = 0;
#pragma omp parallel reduction(+ : members)
  {
    members++;
    CHECK_EQ(omp_get_num_threads(), most);
  }
  CHECK_EQ(members, most);

  omp_set_num_threads(5);
  CHECK_EQ(omp_get_max_threads(), 5);
  members = 0;
#pragma omp parallel reduction(+ : members)
  members++;
  CHECK_EQ(members, 5);
  // The clause goes before the variable, and does not change it.
  members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
  members++;
  CHECK_EQ(members, 3);
  CHECK_EQ(omp_get_max_threads(), 5);
}

static void per_task(void)
{
  omp_set_max_active_levels(3);
  omp_set_num_threads(4);
#pragma omp parallel num_threads(3)
  {
    int me = omp_get_thread_num(), inner = 0;
    omp_set_num_threads(2 + me);
#pragma omp barrier
    CHECK_EQ(omp_get_max_threads(), 2 + me);
#pragma omp parallel reduction(+ : inner)
    inner++;
    CHECK_EQ(inner, 2 + me);
#pragma omp task if (0)
    {
      CHECK_EQ(omp_get_max_threads(), 2 + me);  // inherited at its creation
      omp_set_num_threads(9);
      CHECK_EQ(omp_get_max_threads(), 9);
    }
    CHECK_EQ(omp_get_max_threads(), 2 + me);
    omp_set_dynamic(me == 1);
#pragma omp barrier
    CHECK_EQ(omp_get_dynamic() != 0, me == 1);
    omp_set_schedule(omp_sched_dynamic, 10 + me);
#pragma omp barrier
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    CHECK_EQ(chunk, 10 + me);
  }
  CHECK_EQ(omp_get_max_threads(), 4);
  CHECK_EQ(omp_get_dynamic(), 0);
  int chunk;
  omp_sched_t kind;
  omp_get_schedule(&kind, &chunk);
  CHECK(chunk < 10 || chunk > 12);
}

// With dyn-var on, the runtime may give fewer members, never more, never none.
static void adjusted(void)
{
  omp_set_dynamic(1);
  CHECK(omp_get_dynamic());
  for (int asked = 1; asked < 20; asked += 6) {
    int members = 0, told = 0;
#pragma omp parallel num_threads(asked) reduction(+ : members) shared(told)
    {
      members++;
#pragma omp master
      told = omp_get_num_threads();
    }
    CHECK_IN(members, 1, asked + 1);
    CHECK_EQ(members, told);
  }
  omp_set_dynamic(0);
  CHECK_EQ(omp_get_dynamic(), 0);
}

static void schedules(void)
{
  static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  for (int i = 0; i < 4; i++) {
    omp_sched_t kind;
    int chunk = -77;
    omp_set_schedule(kinds[i], 6);
    omp_get_schedule(&kind, &chunk);
    CHECK_EQ((unsigned)kind & ~(unsigned)omp_sched_monotonic, kinds[i]);
    if (kinds[i] != omp_sched_auto) CHECK_EQ(chunk, 6);
    omp_set_schedule((omp_sched_t)((unsigned)kinds[i] | (unsigned)omp_sched_monotonic), 3);
    omp_get_schedule(&kind, &chunk);
    CHECK_EQ((unsigned)kind & ~(unsigned)omp_sched_monotonic, kinds[i]);
  }
  // An odd chunk means the default.
  omp_set_schedule(omp_sched_dynamic, 0);
  omp_sched_t kind;
  int chunk = 0;
  omp_get_schedule(&kind, &chunk);
  CHECK_EQ((unsigned)kind & ~(unsigned)omp_sched_monotonic, omp_sched_dynamic);
  CHECK_IN(chunk, 0, 2);
}

static void clock_routines(void)
{
  double tick = omp_get_wtick(), begin = omp_get_wtime();
  CHECK(tick > 0 && tick < 0.1);
  usleep(20000);
  double end = omp_get_wtime();
  CHECK(end - begin >= 0.0199);
  CHECK(end - begin < 5);
#pragma omp parallel num_threads(4)
  {
    double before = omp_get_wtime();
    for (int i = 0; i < 100; i++) {
      double now = omp_get_wtime();
      CHECK(now >= before);
      before = now;
    }
    CHECK(before >= begin);
  }
}

static void places(void)
{
  int places = omp_get_num_places();
  CHECK_IN(places, 0, 1000000);
  CHECK_IN(omp_get_place_num(), -1, places > 0 ? places : 1);
  CHECK_EQ(omp_get_place_num_procs(-1), 0);
  CHECK_EQ(omp_get_place_num_procs(places), 0);
  int partition = omp_get_partition_num_places();
  CHECK_IN(partition, 0, places + 1);
  for (int place = 0; place < places && place < 4; place++) {
    int ids[4096], procs = omp_get_place_num_procs(place);
    CHECK_IN(procs, 1, 4096);
    omp_get_place_proc_ids(place, ids);
    for (int i = 0; i < procs; i++) CHECK(ids[i] >= 0);
  }
  int numbers[1024];
  if (partition > 0 && partition < 1024) {
    omp_get_partition_place_nums(numbers);
    for (int i = 0; i < partition; i++) CHECK_IN(numbers[i], 0, places);
  }
  CHECK_IN(omp_get_proc_bind(), omp_proc_bind_false, omp_proc_bind_spread + 1);
}

static void the_rest(void)
{
  CHECK_EQ(omp_get_cancellation(), 0);
  CHECK_EQ(omp_in_final(), 0);
  CHECK_EQ(omp_get_num_teams(), 1);
  CHECK_EQ(omp_get_team_num(), 0);
  CHECK(omp_is_initial_device());
  CHECK(omp_get_num_devices() >= 0);
  CHECK_EQ(omp_get_initial_device(), omp_get_num_devices());
  CHECK(omp_get_max_task_priority() >= 0);
  omp_set_default_device(0);
  CHECK_EQ(omp_get_default_device(), 0);
}

int main(void)
{
  numbers();
  per_task();
  adjusted();
  schedules();
  clock_routines();
  places();
  the_rest();
  return check_result();
}
