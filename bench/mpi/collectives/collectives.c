// SPDX-License-Identifier: Apache-2.0
// Collective operations of MPI by size, with whatever library the process has. The time of one operation is that of the
// slowest rank in a row of them, whose root goes around. So it holds what a program sees that calls one after the other,
// with as many ranks as CPUs and with more. --osu takes the definition of the OSU benchmarks instead.
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"
#include "mpi/common/job.h"
#include "mpi/common/options.h"

enum { kMostSamples = 99, kWarm = 40, kMostBytes = 4 << 20 };

static int rank, ranks;
static char *to_send, *received;

struct operation {
  const char* name;
  // One, of `bytes`: of the vector, or of each block.
  void (*run)(size_t bytes, int root);
  // What `received` must hold behind it, where rank r has sent bytes of value(r, block).
  bool (*holds)(size_t bytes, int root);
  bool in_blocks;
  bool has_sizes;
};

static double number_of(int of_rank) { return of_rank + 1; }

static void fill(size_t bytes, int blocks) {
  for (int block = 0; block < blocks; block++) {
    double* numbers = (double*)(to_send + (size_t)block * bytes);
    for (size_t i = 0; i < bytes / sizeof(double); i++) numbers[i] = number_of(rank) + 1000 * block;
  }
  memset(received, 0, bytes * (size_t)ranks);
}

static bool all_are(const char* at, size_t bytes, double expected) {
  const double* numbers = (const double*)at;
  for (size_t i = 0; i < bytes / sizeof(double); i++) {
    if (numbers[i] != expected) return false;
  }
  return true;
}

static int doubles(size_t bytes) { return (int)(bytes / sizeof(double)); }

static void run_barrier(size_t bytes, int root) {
  (void)bytes, (void)root;
  MPI_Barrier(MPI_COMM_WORLD);
}
static bool barrier_holds(size_t bytes, int root) {
  (void)bytes, (void)root;
  return true;
}

static void run_bcast(size_t bytes, int root) {
  MPI_Bcast(rank == root ? to_send : received, doubles(bytes), MPI_DOUBLE, root, MPI_COMM_WORLD);
}
static bool bcast_holds(size_t bytes, int root) { return rank == root || all_are(received, bytes, number_of(root)); }

static double sum_of_all(void) { return ranks * (ranks + 1) / 2.0; }

static void run_reduce(size_t bytes, int root) {
  MPI_Reduce(to_send, received, doubles(bytes), MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}
static bool reduce_holds(size_t bytes, int root) { return rank != root || all_are(received, bytes, sum_of_all()); }

static void run_allreduce(size_t bytes, int root) {
  (void)root;
  MPI_Allreduce(to_send, received, doubles(bytes), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static bool allreduce_holds(size_t bytes, int root) {
  (void)root;
  return all_are(received, bytes, sum_of_all());
}

static void run_allgather(size_t bytes, int root) {
  (void)root;
  MPI_Allgather(to_send, doubles(bytes), MPI_DOUBLE, received, doubles(bytes), MPI_DOUBLE, MPI_COMM_WORLD);
}
static bool allgather_holds(size_t bytes, int root) {
  (void)root;
  for (int r = 0; r < ranks; r++) {
    if (!all_are(received + (size_t)r * bytes, bytes, number_of(r))) return false;
  }
  return true;
}

static void run_alltoall(size_t bytes, int root) {
  (void)root;
  MPI_Alltoall(to_send, doubles(bytes), MPI_DOUBLE, received, doubles(bytes), MPI_DOUBLE, MPI_COMM_WORLD);
}
static bool alltoall_holds(size_t bytes, int root) {
  (void)root;
  for (int r = 0; r < ranks; r++) {
    if (!all_are(received + (size_t)r * bytes, bytes, number_of(r) + 1000 * rank)) return false;
  }
  return true;
}

static const struct operation operations[] = {
    {"barrier", run_barrier, barrier_holds, false, false},
    {"bcast", run_bcast, bcast_holds, false, true},
    {"reduce", run_reduce, reduce_holds, false, true},
    {"allreduce", run_allreduce, allreduce_holds, false, true},
    {"allgather", run_allgather, allgather_holds, true, true},
    {"alltoall", run_alltoall, alltoall_holds, true, true},
};

static void verify(const struct operation* operation, size_t bytes) {
  for (int root = 0; root < ranks; root++) {
    fill(bytes, operation->in_blocks ? ranks : 1);
    operation->run(bytes, root);
    if (operation->holds(bytes, root)) continue;
    fprintf(stderr, "rank %d: %s of %zu bytes, root %d: wrong data\n", rank, operation->name, bytes, root);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

// Seconds of one in a row of so many, at rank 0; 0 elsewhere.
static double time_of(const struct operation* operation, size_t bytes, long count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now();
  for (long i = 0; i < count; i++) {
    // What is sent is new each time.
    *(double*)to_send = (double)i;
    operation->run(bytes, (int)(i % ranks));
  }
  const double own = (now() - start) / (double)count;
  double longest = 0;
  MPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return longest;
}

// As osu_bcast and others have it: the root is rank 0, data stays the same, a barrier that is not counted stands between
// operations, and the result is the mean of all ranks.
static double osu_time_of(const struct operation* operation, size_t bytes, long count) {
  double own = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (long i = 0; i < count; i++) {
    const double start = now();
    operation->run(bytes, 0);
    own += now() - start;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  own /= (double)count;
  double sum = 0;
  MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  return sum / ranks;
}

// So many that they take this long.
static long count_for(const struct operation* operation, size_t bytes, double seconds) {
  long count = 2 * ranks;
  for (;;) {
    const double one = time_of(operation, bytes, count);
    long next = one * (double)count >= seconds / 4 ? count : 4 * count;
    if (next == count && one > 0) next = (long)(seconds / one) + 1;
    MPI_Bcast(&next, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (next <= 2 * count) return next < ranks ? ranks : next;
    count = next;
  }
}

static void measure(const struct operation* operation, size_t bytes, int samples, double seconds, bool osu) {
  // Groups are made, and what MPI does at first, before anything counts.
  for (int i = 0; i < kWarm; i++) operation->run(bytes, i % ranks);
  const long count = count_for(operation, bytes, seconds);
  double taken[kMostSamples];
  for (int i = 0; i < samples; i++) taken[i] = 1e9 * (osu ? osu_time_of : time_of)(operation, bytes, count);
  if (rank != 0) return;
  char name[64];
  snprintf(name, sizeof name, operation->has_sizes ? "%s_%zu" : "%s", operation->name, bytes);
  report_samples(name, "ns", taken, samples);
}

static bool names(const char* list, const char* name) {
  if (!list) return true;
  const size_t length = strlen(name);
  for (const char* at = list; (at = strstr(at, name)); at += length) {
    if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length])) return true;
  }
  return false;
}

int main(int argument_count, char** arguments) {
  int samples = 5, milliseconds = 5, largest = kMostBytes;
  bool osu = false;
  const char* only = NULL;
  parse_options(argument_count, arguments,
                (const struct program_option[]){
                    {"samples", "samples of each size", .count = &samples},
                    {"milliseconds", "that a sample takes", .count = &milliseconds},
                    {"largest", "bytes of the longest vector or block", .count = &largest},
                    {"osu", "by the definition of the OSU benchmarks", .flag = &osu},
                    {"only", "operations, with commas between", .text = &only},
                    {0},
                });
  if (samples > kMostSamples) samples = kMostSamples;
  if (largest > kMostBytes) largest = kMostBytes;
  start_job(&argument_count, &arguments, MPI_THREAD_SINGLE);
  rank = rank_in(MPI_COMM_WORLD);
  ranks = ranks_in(MPI_COMM_WORLD);
  if (ranks < 2) refuse_job("two ranks or more are wanted");
  to_send = allocated((size_t)ranks, (size_t)largest);
  received = allocated((size_t)ranks, (size_t)largest);
  if (rank == 0) begin_job_report();
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    const struct operation* operation = &operations[i];
    if (!names(only, operation->name)) continue;
    for (size_t bytes = sizeof(double); bytes <= (size_t)largest; bytes *= operation->has_sizes ? 8 : kMostBytes) {
      verify(operation, bytes);
      measure(operation, bytes, samples, 1e-3 * milliseconds, osu);
      if (!operation->has_sizes) break;
    }
  }
  if (rank == 0) end_report();
  MPI_Finalize();
}
