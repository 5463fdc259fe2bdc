/* SPDX-License-Identifier: Apache-2.0 */
/* Point to point: what arrives, what statuses say, and what happens to requests. */
#include "say.h"

static int data[64], more[64];

static void fill(int from) {
  for (int i = 0; i < 64; ++i) data[i] = from + i, more[i] = -1;
}

static void modes(void) {
  int (*const sends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Bsend};
  static char room[4096 + MPI_BSEND_OVERHEAD];
  MPI_Buffer_attach(room, sizeof room);
  for (int mode = 0; mode < 3; ++mode) {
    MPI_Status status;
    fill(100 * rank);
    if (rank % 2 == 0) {
      const int code = MPI_Recv(more, 64, MPI_INT, peer, mode, MPI_COMM_WORLD, &status);
      say_status("recv", code, &status);
      come_early();
      say("send %s", name_of(sends[mode](data, 10 + mode, MPI_INT, peer, mode, MPI_COMM_WORLD)));
    } else {
      come_late();
      say("send %s", name_of(sends[mode](data, 20 + mode, MPI_INT, peer, mode, MPI_COMM_WORLD)));
      const int code = MPI_Recv(more, 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      say_status("recv any", code, &status);
    }
    say("data %d %d %d", more[0], more[9], more[19]);
  }
  void *back;
  int bytes;
  MPI_Buffer_detach(&back, &bytes);
  say("buffer %d %d", back == room, bytes);
}

static void null_processes(void) {
  MPI_Status status;
  memset(&status, 0, sizeof status);
  say("send %s", name_of(MPI_Send(data, 5, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD)));
  say_status("recv", MPI_Recv(data, 5, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status), &status);
  say_status("probe", MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status), &status);
  MPI_Message message;
  say_status("mprobe", MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status), &status);
  say("message %d", message == MPI_MESSAGE_NO_PROC);
  say_status("mrecv", MPI_Mrecv(data, 1, MPI_INT, &message, &status), &status);
  say("message %d", message == MPI_MESSAGE_NULL);
  int code = MPI_Sendrecv(data, 1, MPI_INT, MPI_PROC_NULL, 0, more, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  say_status("sendrecv", code, &status);
  code = MPI_Sendrecv_replace(data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  say_status("sendrecv_replace", code, &status);
}

static void exchanges(void) {
  MPI_Status status;
  MPI_Datatype every_other;
  MPI_Type_vector(8, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  for (int zero = 0; zero < 2; ++zero) {
    const int count = zero ? 0 : 4;
    fill(1000 * rank);
    come_late();
    say_status("sendrecv",
               MPI_Sendrecv(data, count, MPI_INT, peer, 1, more, 64, MPI_INT, peer, MPI_ANY_TAG, MPI_COMM_WORLD, &status),
               &status);
    say("data %d %d", more[0], more[3]);
    come_early();
    say_status("replace",
               MPI_Sendrecv_replace(data, count, MPI_INT, peer, 2, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status), &status);
    say("data %d %d %d", data[0], data[3], data[4]);
  }
  fill(1000 * rank);
  say_status("replace vector", MPI_Sendrecv_replace(data, 1, every_other, peer, 3, peer, 3, MPI_COMM_WORLD, &status), &status);
  say("data %d %d %d %d", data[0], data[1], data[2], data[14]);
  come_late();
  say_status("sendrecv types",
             MPI_Sendrecv(data, 1, every_other, peer, 4, more, 8, MPI_INT, peer, 4, MPI_COMM_WORLD, &status), &status);
  say("data %d %d %d", more[0], more[1], more[7]);
  say("null statuses %s",
      name_of(MPI_Sendrecv(data, 1, MPI_INT, peer, 5, more, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)));
  MPI_Type_free(&every_other);
}

static void bottom(void) {
  MPI_Aint at;
  MPI_Datatype absolute;
  int length = 6;
  fill(10 * rank);
  MPI_Get_address(data, &at);
  MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  come_late();
  if (rank % 2 == 0) MPI_Recv(MPI_BOTTOM, 1, absolute, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else MPI_Ssend(MPI_BOTTOM, 1, absolute, peer, 0, MPI_COMM_WORLD);
  MPI_Sendrecv_replace(MPI_BOTTOM, 1, absolute, peer, 1, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  say("bottom %d %d", data[0], data[5]);
  MPI_Type_free(&absolute);
}

static void probes(void) {
  MPI_Status status;
  memset(&status, 0, sizeof status); /* MPICH leaves out whether a probed message is cancelled */
  MPI_Message message;
  if (rank % 2 == 0) {
    say_status("probe", MPI_Probe(peer, MPI_ANY_TAG, MPI_COMM_WORLD, &status), &status);
    MPI_Recv(more, 64, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say_status("mprobe", MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &message, &status), &status);
    say_status("mrecv", MPI_Mrecv(more, 64, MPI_INT, &message, &status), &status);
    say("message %d, data %d", message == MPI_MESSAGE_NULL, more[0]);
  } else {
    come_late();
    MPI_Send(data, 3, MPI_INT, peer, 7, MPI_COMM_WORLD);
    come_late();
    MPI_Send(data, 2, MPI_INT, peer, 8, MPI_COMM_WORLD);
  }
}

static void order(void) {
  int received[50], wrong = 0;
  MPI_Request requests[50];
  if (rank % 2 == 0) {
    for (int i = 0; i < 50; ++i) MPI_Irecv(&received[i], 1, MPI_INT, peer, 9, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(50, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 50; ++i) wrong += received[i] != i;
    say("overtaken %d", wrong);
  } else {
    come_late();
    for (int i = 0; i < 50; ++i) MPI_Send(&i, 1, MPI_INT, peer, 9, MPI_COMM_WORLD);
  }
}

/* Too large to be sent before it is received. */
static void large(void) {
  const int count = 1 << 20;
  int *buffer = malloc(sizeof *buffer * (size_t)count);
  for (int i = 0; i < count; ++i) buffer[i] = i * (rank + 1);
  MPI_Status status;
  if (rank % 2 == 0) {
    MPI_Send(buffer, count, MPI_INT, peer, 0, MPI_COMM_WORLD);
  } else {
    come_late();
    say_status("large", MPI_Recv(buffer, count, MPI_INT, peer, 0, MPI_COMM_WORLD, &status), &status);
    say("data %d", buffer[count - 1]);
  }
  come_early();
  say_status("replace", MPI_Sendrecv_replace(buffer, count, MPI_INT, peer, 0, peer, 0, MPI_COMM_WORLD, &status), &status);
  free(buffer);
}

int main(int argc, char **argv) {
  start(argc, argv);
  modes();
  null_processes();
  exchanges();
  bottom();
  probes();
  order();
  large();
  MPI_Finalize();
  return 0;
}
