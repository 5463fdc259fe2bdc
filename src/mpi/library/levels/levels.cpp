// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/levels/levels.h"

#include <pthread.h>

#include "mpi/library/calls/collective.h"
#include "mpi/library/diagnostics/trace.h"
#include "mpi/library/diagnostics/watch.h"
#include "mpi/library/levels/environment.h"
#include "mpi/library/levels/mark.h"
#include "mpi/library/levels/program.h"
#include "mpi/library/runtime.h"
#include "weft/mpi.h"

namespace weft::mpi {

namespace {

// The level of threads that MPI_Init_thread has given the program, where MPI itself may have a higher one; -1: the
// program is answered what MPI says.
int g_given_level = -1;
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

bool is_level(int level) noexcept {
  return level == MPI_THREAD_SINGLE || level == MPI_THREAD_FUNNELED || level == MPI_THREAD_SERIALIZED ||
         level == MPI_THREAD_MULTIPLE || level == MPI_TASK_MULTIPLE;
}

}  // namespace

int start_asked(int required, int* provided, int (*start)(void* argument, int level, int* given),
                void* argument) noexcept {
  // What is no level is MPI's to judge: one MPI refuses it, another gives a level that the program may not expect.
  const bool level = is_level(required);
  const bool with_runtime = level && find_runtime() != nullptr;
  const Parallelism parallelism = with_runtime ? parallelism_of_program() : Parallelism::none;
  const bool pausing = parallelism != Parallelism::none;
  // No MPI knows MPI_TASK_MULTIPLE.
  const int known = required == MPI_TASK_MULTIPLE ? MPI_THREAD_MULTIPLE : required;
  take_signal_before_mpi(with_runtime && (pausing || known == MPI_THREAD_MULTIPLE));
  int given = known;
  {
    const StartEnvironment environment(pausing);
    if (const int code = start(argument, pausing ? MPI_THREAD_MULTIPLE : known, &given); code != MPI_SUCCESS) {
      return code;
    }
  }
  g_main_thread = pthread_self();
  const bool multiple = given == MPI_THREAD_MULTIPLE;
  agree_on_collectives(parallelism == Parallelism::tasks);
  if (!level) {
    activate("MPI_Init_thread is asked for what is no level of threads");
  } else if (pausing || multiple) {
    activate(multiple ? nullptr : "this MPI does not give MPI_THREAD_MULTIPLE");
  }
  leave_mark();
  begin_trace();
  if (multiple && (pausing || (with_runtime && required > known))) given = g_given_level = required;
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
  // Ranks that have nothing more to do wait here for the others.
  begin_wait("MPI_Finalize", __builtin_return_address(0));
  const int code = PMPI_Finalize();
  end_wait();
  remove_mark();
  return code;
}

int query_thread(int* provided) noexcept {
  const int code = PMPI_Query_thread(provided);
  if (code == MPI_SUCCESS && g_given_level >= 0) *provided = g_given_level;
  return code;
}

int is_thread_main(int* flag) noexcept {
  const int code = PMPI_Is_thread_main(flag);
  // A user-level thread keeps its identity, whatever OS thread runs it.
  if (code == MPI_SUCCESS && g_given_level >= 0) *flag = pthread_equal(pthread_self(), g_main_thread) != 0 ? 1 : 0;
  return code;
}

}  // namespace weft::mpi
