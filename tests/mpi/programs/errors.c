/* SPDX-License-Identifier: Apache-2.0 */
/* Which handler an error reaches, and what calls return. The second argument says what handles the errors of a
 * communicator: return, handler; or world, whose own handler is called. */
#include "say.h"

static int data[8];

static void on_error(MPI_Comm *communicator, int *code, ...) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Comm_get_name(*communicator, name, &length);
  say("handler of %s: %s", name, name_of(*code));
}

static MPI_Comm with_handler(const char *kind) {
  MPI_Comm made = MPI_COMM_WORLD;
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (strcmp(kind, "world") != 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_set_name(made, "mine");
  }
  if (strcmp(kind, "handler") == 0) MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(made, handler);
  return made;
}

/* Of a message that has been cut; MPICH leaves what stood there. */
static int count_of(const MPI_Status *status) {
  int count = -1;
#ifdef OPEN_MPI
  MPI_Get_count(status, MPI_INT, &count);
#endif
  return count;
}

/* The receiver has room for less than what comes. */
static void truncation(MPI_Comm communicator) {
  MPI_Status status;
  memset(&status, 0, sizeof status);
  status.MPI_ERROR = 4711;
  if (rank % 2 == 0) {
    int code = MPI_Recv(data, 2, MPI_INT, peer, 1, communicator, &status);
    say("recv %s, from %d, tag %d, count %d, error kept %d", name_of(code), status.MPI_SOURCE, status.MPI_TAG,
        count_of(&status), status.MPI_ERROR == 4711);
    code = MPI_Sendrecv(data, 1, MPI_INT, peer, 2, data + 4, 2, MPI_INT, peer, 2, communicator, &status);
    say("sendrecv %s, count %d", name_of(code), count_of(&status));
  } else {
    come_late();
    say("send %s", name_of(MPI_Send(data, 6, MPI_INT, peer, 1, communicator)));
    come_late();
    const int code = MPI_Sendrecv(data, 6, MPI_INT, peer, 2, data + 7, 1, MPI_INT, peer, 2, communicator, &status);
    say("sendrecv %s", name_of(code));
  }
}

static void arguments(MPI_Comm communicator) {
  MPI_Status status;
  say("send to nobody: %s", name_of(MPI_Send(data, 1, MPI_INT, size, 0, communicator)));
  say("recv from nobody: %s", name_of(MPI_Recv(data, 1, MPI_INT, size + 3, 0, communicator, &status)));
  say("tag: %s", name_of(MPI_Send(data, 1, MPI_INT, peer, -17, communicator)));
  say("count: %s", name_of(MPI_Send(data, -1, MPI_INT, peer, 0, communicator)));
  say("type: %s", name_of(MPI_Send(data, 1, MPI_DATATYPE_NULL, peer, 0, communicator)));
  say("probe: %s", name_of(MPI_Probe(size + 3, 0, communicator, &status)));
  say("root: %s", name_of(MPI_Bcast(data, 1, MPI_INT, size, communicator)));
  say("sendrecv: %s", name_of(MPI_Sendrecv(data, 1, MPI_INT, size, 0, data, 1, MPI_INT, peer, 0, communicator, &status)));
}

static void handlers_are_kept(void) {
  MPI_Errhandler world, self, mine;
  MPI_Comm_create_errhandler(on_error, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &world);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &self);
  say("world %d %d, self %d", world == MPI_ERRORS_ARE_FATAL, world == MPI_ERRORS_RETURN, self == mine);
  MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  say("self: %s", name_of(MPI_Send(data, 1, MPI_INT, 5, 0, MPI_COMM_SELF)));
}

int main(int argc, char **argv) {
  start(argc, argv);
  const char *kind = argc > 2 ? argv[2] : "return";
  const MPI_Comm communicator = with_handler(kind);
  truncation(communicator);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(kind, "handler") != 0) arguments(communicator);
  handlers_are_kept();
  MPI_Finalize();
  return 0;
}
