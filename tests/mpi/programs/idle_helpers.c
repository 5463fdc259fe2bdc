/* SPDX-License-Identifier: Apache-2.0 */
/* A call that a helper makes sleeps while it waits. Says "done" when all is right; with the argument `figures`, how much CPU
 * time each call uses. */
#include <sys/resource.h>

#include "say.h"

static MPI_Win window;
static MPI_File file;
static int memory, data;

static void fence(void) { MPI_Win_fence(0, window); }

static void split(void) {
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
  MPI_Comm_free(&made);
}

static void read_ordered(void) { MPI_File_read_ordered(file, &data, 1, MPI_INT, MPI_STATUS_IGNORE); }

static const struct {
  const char *name;
  void (*call)(void);
} kCalls[] = {{"MPI_Win_fence", fence}, {"MPI_Comm_split", split}, {"MPI_File_read_ordered", read_ordered}};

static double cpu_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int main(int argc, char **argv) {
  start(argc, argv);
  const int figures = argc > 1 && strcmp(argv[1], "figures") == 0;
  int wrong = 0;
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_File_open(MPI_COMM_WORLD, "weft_mpi_idle", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = cpu_seconds(), began = MPI_Wtime();
#pragma omp parallel num_threads(1)
    {
      if (rank % 2 == 1) sleep(2);
      kCalls[i].call();
    }
    /* As MPI waits, the call would use a whole CPU. */
    const double used = cpu_seconds() - before, waited = MPI_Wtime() - began;
    const int much = rank % 2 == 0 && used > 0.5 * waited;
    if (much || (figures && rank == 0)) say("%s: %.3f s of CPU time in %.3f s", kCalls[i].name, used, waited);
    wrong += much;
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  MPI_File_close(&file);
  MPI_Win_free(&window);
  if (wrong == 0) say("done");
  MPI_Finalize();
  return wrong != 0;
}
