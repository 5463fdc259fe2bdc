// SPDX-License-Identifier: Apache-2.0
#include "mpi/common/job.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"
#include "mpi/common/events.h"

void start_job(int* argument_count, char*** arguments, int level) {
  int provided;
  MPI_Init_thread(argument_count, arguments, level, &provided);
  if (provided >= level) return;
  fprintf(stderr, "%s: MPI gives thread level %d of %d\n", program_invocation_short_name, provided, level);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void refuse_job(const char* reason) {
  if (!reason) return;
  if (rank_in(MPI_COMM_WORLD) == 0) fprintf(stderr, "%s: %s\n", program_invocation_short_name, reason);
  MPI_Finalize();
  exit(2);
}

int rank_in(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int ranks_in(MPI_Comm comm) {
  int ranks;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

long first_of_part(long count, int part, int parts) { return count * part / parts; }

uint64_t sum_over_ranks(MPI_Comm comm, uint64_t value) {
  uint64_t sum = 0;
  MPI_Reduce(&value, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, comm);
  return sum;
}

double seconds_of(MPI_Comm comm, void (*run)(void* argument), void* argument) {
  MPI_Barrier(comm);
  const double start = now();
  run(argument);
  MPI_Barrier(comm);
  const double seconds = now() - start;
  double longest;
  MPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, comm);
  return longest;
}

// By its name: programs without tasks do not ask for it.
bool events_are_there(void) { return dlsym(RTLD_DEFAULT, "TAMPI_Iwait") != NULL; }

void begin_job_report(void) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(library, &length);
  library[strcspn(library, "\n,")] = 0;
  for (char* c = library; *c; c++)
    if (*c == '\t') *c = ' ';
  begin_report();
  report_text("mpi", library);
  report_number("ranks", ranks_in(MPI_COMM_WORLD));
  report_number("team", omp_get_max_threads());
  report_number("events", events_are_there());
}

void report_hash(uint64_t hash, const uint64_t* reference) {
  char text[17];
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  report_text("hash", text);
  if (reference) report_text("verified", hash == *reference ? "equal" : "different");
}

void* allocated(size_t count, size_t size) {
  // A line of the cache, for FFTs too.
  const size_t alignment = 64;
  void* memory = aligned_alloc(alignment, (count * size + alignment) / alignment * alignment);
  if (memory) return memset(memory, 0, count * size);
  perror("memory");
  exit(1);
}
