// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/levels/levels.h"

#include <pthread.h>

#include "mpi/library/calls/collective.h"
#include "mpi/library/levels/environment.h"
#include "mpi/library/runtime.h"
#include "mpi/library/waits/trace.h"
#include "mpi/library/waits/watch.h"
#include "weft/mpi.h"

namespace weft::mpi {

namespace {

// What the program was told, while MPI may have more; -1: what MPI says.
int g_told = -1;
pthread_t g_main_thread;

struct CommandLine {
  int* argc;
  char*** argv;
};

int start_mpi(void* command_line, int level, int* given) noexcept {
  const auto& [argc, argv] = *static_cast<CommandLine*>(command_line);
  const Inside inside;
  return PMPI_Init_thread(argc, argv, level, given);
}

}  // namespace

int start_asked(int required, int* provided, int (*start)(void* argument, int level, int* given),
                void* argument) noexcept {
  const bool pausing = find_runtime() != nullptr;
  if (pausing) take_signal();
  // No MPI knows MPI_TASK_MULTIPLE.
  const int known = required == MPI_TASK_MULTIPLE ? MPI_THREAD_MULTIPLE : required;
  int given = known;
  {
    const StartEnvironment environment(pausing);
    if (const int code = start(argument, pausing ? MPI_THREAD_MULTIPLE : known, &given); code != MPI_SUCCESS) {
      return code;
    }
  }
  g_main_thread = pthread_self();
  const bool multiple = given == MPI_THREAD_MULTIPLE;
  agree_on_collectives();
  activate(multiple);
  begin_trace();
  if (pausing && multiple) given = g_told = required;
  *provided = given;
  return MPI_SUCCESS;
}

int init_thread(int* argc, char*** argv, int required, int* provided) noexcept {
  CommandLine command_line{argc, argv};
  return start_asked(required, provided, start_mpi, &command_line);
}

int init(int* argc, char*** argv) noexcept {
  int provided;
  return init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

int finalize() noexcept {
  deactivate();
  const Inside inside;
  return PMPI_Finalize();
}

int query_thread(int* provided) noexcept {
  const int code = PMPI_Query_thread(provided);
  if (code == MPI_SUCCESS && g_told >= 0) *provided = g_told;
  return code;
}

int is_thread_main(int* flag) noexcept {
  const int code = PMPI_Is_thread_main(flag);
  // A user-level thread keeps its identity, whatever OS thread runs it.
  if (code == MPI_SUCCESS && g_told >= 0) *flag = pthread_equal(pthread_self(), g_main_thread) != 0 ? 1 : 0;
  return code;
}

}  // namespace weft::mpi
