// SPDX-License-Identifier: Apache-2.0
// MPICH forgets what a request belongs to: the error of MPI_Test goes to the handler of MPI_COMM_WORLD or
// MPI_COMM_SELF, which one depends on its version. As long as the program sets no handler all of them end it, so
// nothing is done. From then on both have a handler of ours, which keeps quiet about converted calls, and calls the
// program's otherwise; but MPI_ERRORS_RETURN stays, which is quiet itself, and after which calls return codes that a
// handler may hide.
#include "mpi/library/errors/errors.h"

#include <atomic>
#include <cstdio>

#include <pthread.h>

#include "mpi/library/errors/functions.h"

namespace weft::mpi {

namespace {

thread_local int t_completing = 0;
thread_local int t_seen = MPI_SUCCESS;

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
// Set once, when the handlers are there.
std::atomic<bool> g_ours_set{false};
MPI_Errhandler g_ours = MPI_ERRHANDLER_NULL;
// What the program has set for MPI_COMM_WORLD and MPI_COMM_SELF.
MPI_Errhandler g_world = MPI_ERRHANDLER_NULL;
MPI_Errhandler g_self = MPI_ERRHANDLER_NULL;
// Whether calls return MPI_SUCCESS when a program's handler has had their error (seen with MPICH 5.0).
bool g_handled_is_success = false;

class Locked {
 public:
  Locked() noexcept { pthread_mutex_lock(&g_lock); }
  ~Locked() { pthread_mutex_unlock(&g_lock); }
};

// Communicators made of MPI_COMM_WORLD inherit our handler, and so its program's.
MPI_Errhandler& programs(MPI_Comm communicator) noexcept { return communicator == MPI_COMM_SELF ? g_self : g_world; }

bool is_fatal(MPI_Errhandler handler) noexcept {
#ifdef MPI_ERRORS_ABORT
  if (handler == MPI_ERRORS_ABORT) return true;
#endif
  return handler == MPI_ERRORS_ARE_FATAL;
}

bool is_predefined(MPI_Errhandler handler) noexcept {
  return handler == MPI_ERRORS_RETURN || handler == MPI_ERRHANDLER_NULL || is_fatal(handler);
}

[[noreturn]] void end_program(MPI_Comm communicator, int code) noexcept {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  std::fprintf(stderr, "Fatal error: %s\n", text);
  PMPI_Abort(communicator, code);
  __builtin_unreachable();
}

// Within a handler MPICH can neither set one nor call one: the function is called as MPICH would call it.
void on_error(MPI_Comm* communicator, int* code, ...) {
  t_seen = *code;
  if (t_completing > 0) return;
  MPI_Errhandler handler;
  {
    const Locked lock;
    handler = programs(*communicator);
  }
  if (is_fatal(handler)) end_program(*communicator, *code);
  const Inside inside;
  if (MPI_Comm_errhandler_function* function = function_of(handler)) function(communicator, code);
}

bool keeps(MPI_Comm communicator) noexcept {
  return g_ours_set && (communicator == MPI_COMM_WORLD || communicator == MPI_COMM_SELF);
}

int put_ours(MPI_Comm communicator) noexcept {
  const bool quiet = programs(communicator) == MPI_ERRORS_RETURN;
  return PMPI_Comm_set_errhandler(communicator, quiet ? MPI_ERRORS_RETURN : g_ours);
}

void free_handler(MPI_Errhandler& handler) noexcept {
  if (!is_predefined(handler)) PMPI_Errhandler_free(&handler);
}

// By an error of its own.
void see_what_handled_calls_return() noexcept {
  PMPI_Comm_set_errhandler(MPI_COMM_SELF, g_ours);
  const Completing completing;
  constexpr int kNobody = 1;  // MPI_COMM_SELF has rank 0 alone
  g_handled_is_success = PMPI_Send(nullptr, 0, MPI_INT, kNobody, 0, MPI_COMM_SELF) == MPI_SUCCESS;
}

// What the blocking call returns when its error has reached the handler of the communicator.
int returned(MPI_Comm communicator, int code) noexcept {
  if (!g_handled_is_success) return code;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  get_handler(communicator, &handler);
  const bool handled = !is_predefined(handler);
  free_handler(handler);
  return handled ? MPI_SUCCESS : code;
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
    case Origin::Of::communicator:
      PMPI_Comm_call_errhandler(origin.communicator, code);
      return returned(origin.communicator, code);
    case Origin::Of::file: PMPI_File_call_errhandler(origin.file, code); return code;
    case Origin::Of::request: PMPI_Comm_call_errhandler(MPI_COMM_WORLD, code); return returned(MPI_COMM_WORLD, code);
  }
  return code;
}

void keep_errors() noexcept {
  const Locked lock;
  if (g_ours_set) return;
  PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &g_world);
  PMPI_Comm_get_errhandler(MPI_COMM_SELF, &g_self);
  PMPI_Comm_create_errhandler(on_error, &g_ours);
  see_what_handled_calls_return();
  put_ours(MPI_COMM_WORLD);
  put_ours(MPI_COMM_SELF);
  g_ours_set = true;
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
  free_handler(kept);
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

int create_handler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) noexcept {
  const int code = PMPI_Comm_create_errhandler(function, handler);
  if (code == MPI_SUCCESS) remember_function(*handler, function);
  return code;
}

}  // namespace weft::mpi
