// SPDX-License-Identifier: Apache-2.0
// MPICH forgets what a request belongs to: the error of MPI_Test goes to the handler of MPI_COMM_WORLD or
// MPI_COMM_SELF, which one depends on its version. What the program has set there:
// - Nothing, so that errors end it. While requests are completed that may belong elsewhere, or several at once, whose
//   own errors MPI_Testsome would not tell, a handler of ours keeps quiet. Not longer: it could not end the program as
//   MPICH does.
// - A function. Our handler stands in its place, and calls it for errors of calls that are not converted.
// - MPI_ERRORS_RETURN, which stays. It is quiet itself, and calls return codes after it that a handler may hide.
#include "mpi/library/errors/errors.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "mpi/errors_return.h"
#include "mpi/library/errors/functions.h"
#include "platform/futex_lock.h"

namespace weft::mpi {

namespace {

thread_local int t_completing = 0;
thread_local int t_seen = MPI_SUCCESS;
thread_local MPI_Comm t_reached = MPI_COMM_NULL;

platform::FutexLock g_lock;
MPI_Errhandler g_ours = MPI_ERRHANDLER_NULL;
// The communicator to whose handler the errors of requests go, and the handler that the program has set there.
MPI_Comm g_reached = MPI_COMM_NULL;
std::atomic<MPI_Errhandler> g_programs{MPI_ERRHANDLER_NULL};
// Whether the program has set a handler anywhere.
std::atomic<bool> g_set{false};
// How many callers of keep_ours() want weft's handler there in the place of a fatal one.
int g_keeping = 0;
MPI_Errhandler g_returning = MPI_ERRORS_RETURN;
// Whether this MPI keeps with a request what it belongs to: Open MPI does, which may have the standard's ABI.
bool g_keeps_origins = false;
// Whether calls return MPI_SUCCESS when a program's handler has had their error (seen with MPICH 5.0).
bool g_handled_is_success = false;

bool is_predefined(MPI_Errhandler handler) noexcept {
  return handler == MPI_ERRORS_RETURN || handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT ||
         handler == MPI_ERRHANDLER_NULL;
}

bool is_fatal(MPI_Errhandler handler) noexcept {
  return is_predefined(handler) && handler != g_returning && handler != MPI_ERRHANDLER_NULL;
}

// Within a handler MPICH can do nothing, not even end the program.
[[noreturn]] void end_program(int code) noexcept {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  std::fprintf(stderr, "Fatal error: %s\n", text);
  std::_Exit(code);
}

// Within a handler MPICH can neither set one nor call one: the function is called as MPICH would call it.
void on_error(MPI_Comm* communicator, int* code, ...) {
  t_seen = *code;
  t_reached = *communicator;
  if (t_completing > 0) return;
  // Communicators made of that one inherit ours, and so its program's. No lock: MPI may hold its own.
  const MPI_Errhandler handler = g_programs;
  if (is_fatal(handler)) end_program(*code);
  const Inside inside;
  if (MPI_Comm_errhandler_function* function = function_of(handler)) function(communicator, code);
}

// Sets the handler of the communicator that the errors of requests reach. The caller holds the lock.
void put_handler() noexcept {
  const MPI_Errhandler handler = g_programs;
  const bool ours = g_keeping > 0 || !is_predefined(handler);
  PMPI_Comm_set_errhandler(g_reached, ours ? g_ours : handler);
}

void keep_ours(int change) noexcept {
  const std::lock_guard lock(g_lock);
  const int before = g_keeping;
  g_keeping += change;
  if ((before == 0) != (g_keeping == 0)) put_handler();
}

void free_handler(MPI_Errhandler handler) noexcept {
  if (!is_predefined(handler)) PMPI_Errhandler_free(&handler);
}

bool is_open_mpi() noexcept {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(version, &length);
  return std::strncmp(version, "Open MPI", std::strlen("Open MPI")) == 0;
}

// Finds out g_handled_is_success by an error made for that purpose. Both communicators have weft's handler meanwhile.
void see_what_handled_calls_return() noexcept {
  const Completing completing;
  constexpr int kNobody = 1;  // MPI_COMM_SELF has rank 0 alone
  g_handled_is_success = PMPI_Send(nullptr, 0, MPI_INT, kNobody, 0, MPI_COMM_SELF) == MPI_SUCCESS;
}

MPI_Comm see_whom_requests_reach() noexcept {
  const Completing completing;
  constexpr int kTag = 32767;  // the largest that every MPI has
  int sent[2] = {};
  int received[1] = {};
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Request receive = MPI_REQUEST_NULL;
  PMPI_Isend(sent, 2, MPI_INT, 0, kTag, MPI_COMM_SELF, &send);
  PMPI_Irecv(received, 1, MPI_INT, 0, kTag, MPI_COMM_SELF, &receive);
  t_reached = MPI_COMM_NULL;
  for (int done = 0; done == 0 && t_reached == MPI_COMM_NULL;) PMPI_Test(&receive, &done, MPI_STATUS_IGNORE);
  const MPI_Comm reached = t_reached;
  for (int done = 0; done == 0;) {
    if (PMPI_Test(&send, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
  }
  return reached == MPI_COMM_WORLD ? MPI_COMM_WORLD : MPI_COMM_SELF;
}

// Returns what a call whose error has reached the handler of the communicator returns.
int call_handler(MPI_Comm communicator, int code) noexcept {
  const Inside inside;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  get_handler(communicator, &handler);
  // MPI itself ends the program then, as it would have done without our handler.
  if (is_fatal(handler)) PMPI_Comm_set_errhandler(communicator, handler);
  PMPI_Comm_call_errhandler(communicator, code);
  const bool hides = g_handled_is_success && !is_predefined(handler);
  free_handler(handler);
  return hides ? MPI_SUCCESS : code;
}

}  // namespace

Completing::Completing(Requests requests) noexcept
    : outer_(t_seen), keeping_((requests == Requests::several || g_set) && is_fatal(g_programs)) {
  if (keeping_) keep_ours(1);
  ++t_completing;
  t_seen = MPI_SUCCESS;
}

Completing::~Completing() {
  --t_completing;
  t_seen = outer_;
  if (keeping_) keep_ours(-1);
}

int Completing::code(int returned) const noexcept { return t_seen != MPI_SUCCESS ? t_seen : returned; }

int raise(const Origin& origin, int code) noexcept {
  if (g_keeps_origins) return code;
  switch (origin.of) {
    case Origin::Of::communicator: return call_handler(origin.communicator, code);
    case Origin::Of::file: {
      const Inside inside;
      PMPI_File_call_errhandler(origin.file, code);
      return code;
    }
    case Origin::Of::request: return raise_own(code);
  }
  return code;
}

int raise_own(int code) noexcept { return call_handler(g_keeps_origins ? MPI_COMM_WORLD : g_reached, code); }

void keep_errors() noexcept {
  const Inside inside;
  const std::lock_guard lock(g_lock);
  if (g_reached != MPI_COMM_NULL) return;
  g_keeps_origins = is_open_mpi();
  if (g_keeps_origins) return;
  g_returning = errors_return();
  MPI_Errhandler world = MPI_ERRHANDLER_NULL;
  MPI_Errhandler self = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &world);
  PMPI_Comm_get_errhandler(MPI_COMM_SELF, &self);
  PMPI_Comm_create_errhandler(on_error, &g_ours);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, g_ours);
  PMPI_Comm_set_errhandler(MPI_COMM_SELF, g_ours);
  see_what_handled_calls_return();
  g_reached = see_whom_requests_reach();
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
  PMPI_Comm_set_errhandler(MPI_COMM_SELF, self);
  // If both handlers are fatal ones, the program counts as one that has set none.
  if (!is_fatal(world) || !is_fatal(self)) g_set = true;
  g_programs = g_reached == MPI_COMM_WORLD ? world : self;
  free_handler(g_reached == MPI_COMM_WORLD ? self : world);
  put_handler();
}

int set_handler(MPI_Comm communicator, MPI_Errhandler handler) noexcept {
  g_set = true;
  if (g_reached == MPI_COMM_NULL || communicator != g_reached) {
    return PMPI_Comm_set_errhandler(communicator, handler);
  }
  // MPI checks it, and counts that it is used.
  const std::lock_guard lock(g_lock);
  if (const int code = PMPI_Comm_set_errhandler(communicator, handler); code != MPI_SUCCESS) return code;
  MPI_Errhandler used = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(communicator, &used);
  free_handler(g_programs);
  g_programs = used;
  put_handler();
  return MPI_SUCCESS;
}

int get_handler(MPI_Comm communicator, MPI_Errhandler* handler) noexcept {
  const int code = PMPI_Comm_get_errhandler(communicator, handler);
  if (code != MPI_SUCCESS || g_reached == MPI_COMM_NULL || *handler != g_ours) return code;
  // There, or inherited from there. The caller gets a reference of its own to the program's.
  PMPI_Errhandler_free(handler);
  const std::lock_guard lock(g_lock);
  PMPI_Comm_set_errhandler(communicator, g_programs);
  PMPI_Comm_get_errhandler(communicator, handler);
  return PMPI_Comm_set_errhandler(communicator, g_ours);
}

int create_handler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) noexcept {
  const int code = PMPI_Comm_create_errhandler(function, handler);
  if (code == MPI_SUCCESS) remember_function(*handler, function);
  return code;
}

}  // namespace weft::mpi
