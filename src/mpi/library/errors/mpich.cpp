// SPDX-License-Identifier: Apache-2.0
// MPICH forgets what a request belongs to: the error of MPI_Test goes to the handler of MPI_COMM_WORLD or MPI_COMM_SELF,
// which one depends on its version. As long as the program sets no handler all of them end it, so nothing is done. From
// then on both have a handler of ours, which keeps quiet about converted calls, and calls the program's otherwise; but
// MPI_ERRORS_RETURN stays, which is quiet itself, and after which calls return codes that a handler would hide.
#include "mpi/library/errors/errors.h"

#include <pthread.h>

namespace weft::mpi {

namespace {

thread_local int t_completing = 0;
thread_local int t_seen = MPI_SUCCESS;

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
bool g_ours_set = false;
MPI_Errhandler g_ours = MPI_ERRHANDLER_NULL;
// What the program has set for MPI_COMM_WORLD and MPI_COMM_SELF.
MPI_Errhandler g_world = MPI_ERRHANDLER_NULL;
MPI_Errhandler g_self = MPI_ERRHANDLER_NULL;

class Locked {
 public:
  Locked() noexcept { pthread_mutex_lock(&g_lock); }
  ~Locked() { pthread_mutex_unlock(&g_lock); }
};

// Communicators made of MPI_COMM_WORLD inherit our handler, and so its program's.
MPI_Errhandler& programs(MPI_Comm communicator) noexcept { return communicator == MPI_COMM_SELF ? g_self : g_world; }

// MPI calls handlers only through a communicator that has them. Errors are rare, and other threads' errors meanwhile
// reach the same handler.
void call_programs(MPI_Comm communicator, int code) noexcept {
  MPI_Errhandler handler;
  {
    const Locked lock;
    handler = programs(communicator);
  }
  if (handler == MPI_ERRORS_RETURN) return;
  PMPI_Comm_set_errhandler(communicator, handler);
  PMPI_Comm_call_errhandler(communicator, code);
  PMPI_Comm_set_errhandler(communicator, g_ours);
}

void on_error(MPI_Comm* communicator, int* code, ...) {
  t_seen = *code;
  if (t_completing > 0) return;
  const Inside inside;
  call_programs(*communicator, *code);
}

bool keeps(MPI_Comm communicator) noexcept {
  return g_ours_set && (communicator == MPI_COMM_WORLD || communicator == MPI_COMM_SELF);
}

int put_ours(MPI_Comm communicator) noexcept {
  const bool quiet = programs(communicator) == MPI_ERRORS_RETURN;
  return PMPI_Comm_set_errhandler(communicator, quiet ? MPI_ERRORS_RETURN : g_ours);
}

bool is_predefined(MPI_Errhandler handler) noexcept {
#ifdef MPI_ERRORS_ABORT
  if (handler == MPI_ERRORS_ABORT) return true;
#endif
  return handler == MPI_ERRORS_RETURN || handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRHANDLER_NULL;
}

}  // namespace

Completing::Completing() noexcept : outer_(t_seen) {
  ++t_completing;
  t_seen = MPI_SUCCESS;
}

Completing::~Completing() {
  --t_completing;
  t_seen = outer_;
}

int Completing::code(int returned) const noexcept { return t_seen != MPI_SUCCESS ? t_seen : returned; }

int raise(const Origin& origin, int code) noexcept {
  if (!g_ours_set) return code;  // MPI has called the handler
  const Inside inside;
  switch (origin.of) {
    case Origin::Of::communicator: PMPI_Comm_call_errhandler(origin.communicator, code); break;
    case Origin::Of::file: PMPI_File_call_errhandler(origin.file, code); break;
    case Origin::Of::request: PMPI_Comm_call_errhandler(MPI_COMM_WORLD, code); break;
  }
  return code;
}

void keep_errors() noexcept {
  const Locked lock;
  if (g_ours_set) return;
  PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &g_world);
  PMPI_Comm_get_errhandler(MPI_COMM_SELF, &g_self);
  PMPI_Comm_create_errhandler(on_error, &g_ours);
  g_ours_set = true;
  put_ours(MPI_COMM_WORLD);
  put_ours(MPI_COMM_SELF);
}

int set_handler(MPI_Comm communicator, MPI_Errhandler handler) noexcept {
  keep_errors();
  if (!keeps(communicator)) return PMPI_Comm_set_errhandler(communicator, handler);
  // MPI checks it, and counts that it is used.
  const Locked lock;
  if (const int code = PMPI_Comm_set_errhandler(communicator, handler); code != MPI_SUCCESS) return code;
  MPI_Errhandler used = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(communicator, &used);
  MPI_Errhandler& kept = programs(communicator);
  if (!is_predefined(kept)) PMPI_Errhandler_free(&kept);
  kept = used;
  return put_ours(communicator);
}

int get_handler(MPI_Comm communicator, MPI_Errhandler* handler) noexcept {
  if (!keeps(communicator)) return PMPI_Comm_get_errhandler(communicator, handler);
  const Locked lock;
  // A reference of the caller's own.
  PMPI_Comm_set_errhandler(communicator, programs(communicator));
  const int code = PMPI_Comm_get_errhandler(communicator, handler);
  put_ours(communicator);
  return code;
}

}  // namespace weft::mpi
