/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that wait for requests and look at them: null ones, inactive ones, persistent ones, cancelled ones. */
#include "say.h"

static int in[8], out[8];

static void say_requests(const char *what, int count, const MPI_Request *requests) {
  char text[40] = "";
  for (int i = 0; i < count; ++i) strcat(text, requests[i] == MPI_REQUEST_NULL ? "-" : "r");
  say("%s: requests %s", what, text);
}

static void nothing_to_wait_for(void) {
  MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[3];
  int index = 5, count = 5, places[3], flag = 5;
  memset(statuses, 0, sizeof statuses);
  say_status("wait", MPI_Wait(&none[0], &statuses[0]), &statuses[0]);
  say_status("waitall", MPI_Waitall(3, none, statuses), &statuses[2]);
  say("waitall of 0: %s", name_of(MPI_Waitall(0, none, MPI_STATUSES_IGNORE)));
  say_status("waitany", MPI_Waitany(3, none, &index, &statuses[0]), &statuses[0]);
  say("index %d", index == MPI_UNDEFINED);
  say("waitany of 0: %s, %d", name_of(MPI_Waitany(0, none, &index, MPI_STATUS_IGNORE)), index == MPI_UNDEFINED);
  say("waitsome: %s", name_of(MPI_Waitsome(3, none, &count, places, statuses)));
  say("count %d", count == MPI_UNDEFINED);
  say_status("test", MPI_Test(&none[0], &flag, &statuses[0]), &statuses[0]);
  say("flag %d", flag != 0);
  say("testall: %s", name_of(MPI_Testall(3, none, &flag, MPI_STATUSES_IGNORE)));
  say("testany: %s", name_of(MPI_Testany(3, none, &index, &flag, &statuses[0])));
  say("flag %d index %d", flag != 0, index == MPI_UNDEFINED);
  say("testsome: %s", name_of(MPI_Testsome(3, none, &count, places, MPI_STATUSES_IGNORE)));
  say("count %d", count == MPI_UNDEFINED);
}

static void waits(void) {
  MPI_Request requests[5];
  MPI_Status statuses[5];
  for (int round = 0; round < 3; ++round) {
    memset(statuses, 0, sizeof statuses);
    for (int i = 0; i < 5; ++i) {
      out[i] = 10 * rank + i;
      requests[i] = MPI_REQUEST_NULL;
      if (rank % 2 == 0 && i != 2) MPI_Irecv(&in[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
    }
    if (rank % 2 == 1) {
      come_late();
      for (int i = 4; i >= 0; --i) {
        if (i != 2) MPI_Ssend(&out[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD);
      }
      continue;
    }
    if (round == 0) {
      say("waitall %s", name_of(MPI_Waitall(5, requests, statuses)));
      for (int i = 0; i < 5; ++i) say_status("  of", MPI_SUCCESS, &statuses[i]);
    } else if (round == 1) {
      /* Which comes first is left to MPI. */
      int codes[5] = {0}, times[5] = {0};
      for (int i = 0; i < 4; ++i) {
        MPI_Status status;
        int index = 2;
        const int code = MPI_Waitany(5, requests, &index, &status);
        statuses[index] = status;
        codes[index] = code;
        ++times[index];
      }
      for (int i = 0; i < 5; ++i) {
        say_status("waitany", codes[i], &statuses[i]);
        say("%d times, data %d", times[i], in[i]);
      }
    } else {
      int left = 4;
      while (left > 0) {
        int count = 0, places[5];
        const int code = MPI_Waitsome(5, requests, &count, places, statuses);
        if (code != MPI_SUCCESS) say("waitsome %s", name_of(code));
        for (int i = 0; i < count; ++i) {
          if (statuses[i].MPI_TAG != places[i]) say("a status of another request");
        }
        left -= count;
      }
      say("waitsome %d", left);
    }
    say_requests("behind", 5, requests);
    say("data %d %d %d %d", in[0], in[1], in[3], in[4]);
  }
}

static void persistent(void) {
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int index, flag;
  MPI_Recv_init(&in[0], 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Ssend_init(&out[0], 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv_init(&in[2], 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[2]);
  memset(statuses, 0, sizeof statuses);
  say_status("inactive", MPI_Wait(&requests[0], &statuses[0]), &statuses[0]);
  say("waitall of inactive: %s", name_of(MPI_Waitall(3, requests, statuses)));
  say("waitany of inactive: %s, %d", name_of(MPI_Waitany(3, requests, &index, &statuses[0])), index == MPI_UNDEFINED);
  for (int round = 0; round < 4; ++round) {
    out[0] = 100 * rank + round;
    come_late();
    MPI_Startall(2, requests);
    if (round % 2 == 0) {
      say("waitall %s", name_of(MPI_Waitall(3, requests, statuses)));
    } else {
      say_status("wait", MPI_Wait(&requests[0], &statuses[0]), &statuses[0]);
      say("wait %s", name_of(MPI_Wait(&requests[1], MPI_STATUS_IGNORE)));
    }
    say("data %d", in[0]);
    say_requests("behind", 3, requests);
    MPI_Request_get_status(requests[0], &flag, &statuses[0]);
    say("inactive %d", flag != 0);
  }
  /* One of them alone among inactive ones. */
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Start(&requests[2]);
  come_late();
  MPI_Isend(&out[1], 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &send);
  say_status("waitany", MPI_Waitany(3, requests, &index, &statuses[0]), &statuses[0]);
  say("index %d", index);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) MPI_Request_free(&requests[i]);
  say_requests("freed", 3, requests);
}

static void cancelled(void) {
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(in, 1, MPI_INT, peer, 77, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  const int code = MPI_Wait(&request, &status);
  int was;
  MPI_Test_cancelled(&status, &was);
  say("cancel %s %d %d", name_of(code), was != 0, request == MPI_REQUEST_NULL);
  MPI_Isend(out, 1, MPI_INT, peer, 78, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  say("free %d", request == MPI_REQUEST_NULL);
  say_status("recv", MPI_Recv(in, 1, MPI_INT, peer, 78, MPI_COMM_WORLD, &status), &status);
}

/* Loops that look. */
static void tests(void) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int flag = 0, index = 0, count = 0, places[2];
  if (rank % 2 == 1) {
    for (int i = 0; i < 7; ++i) come_late(), MPI_Send(out, 1, MPI_INT, peer, i, MPI_COMM_WORLD);
    return;
  }
  MPI_Irecv(in, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  while (!flag) MPI_Test(&requests[0], &flag, &statuses[0]);
  say_status("test", MPI_SUCCESS, &statuses[0]);
  for (int i = 0; i < 2; ++i) MPI_Irecv(&in[i], 1, MPI_INT, peer, 1 + i, MPI_COMM_WORLD, &requests[i]);
  for (flag = 0; !flag;) MPI_Testall(2, requests, &flag, statuses);
  say_status("testall", MPI_SUCCESS, &statuses[1]);
  requests[0] = MPI_REQUEST_NULL;
  MPI_Irecv(in, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[1]);
  for (flag = 0; !flag;) MPI_Testany(2, requests, &index, &flag, statuses);
  say("testany %d", index);
  MPI_Irecv(in, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, &requests[1]);
  while (count == 0) MPI_Testsome(2, requests, &count, places, statuses);
  say("testsome %d %d", count, places[0]);
  for (flag = 0; !flag;) MPI_Iprobe(peer, 5, MPI_COMM_WORLD, &flag, statuses);
  MPI_Recv(in, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Message message;
  for (flag = 0; !flag;) MPI_Improbe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &flag, &message, statuses);
  say_status("improbe", MPI_Mrecv(in, 1, MPI_INT, &message, statuses), statuses);
}

static int query(void *state, MPI_Status *status) {
  MPI_Status_set_elements(status, MPI_INT, *(int *)state);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 3;
  status->MPI_TAG = 4;
  return MPI_SUCCESS;
}
static int freed(void *state) {
  ++*(int *)state;
  return MPI_SUCCESS;
}
static int cancel(void *state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

static void generalized(void) {
  MPI_Request request;
  MPI_Status status;
  int state = 17;
  MPI_Grequest_start(query, freed, cancel, &state, &request);
  MPI_Grequest_complete(request);
  say_status("generalized", MPI_Wait(&request, &status), &status);
  say("freed %d", state);
}

static void many(void) {
  enum { kMany = 300 };
  static int numbers[kMany];
  MPI_Request requests[kMany];
  MPI_Status statuses[kMany];
  int wrong = 0;
  for (int i = 0; i < kMany; ++i) MPI_Irecv(&numbers[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
  come_late();
  for (int i = kMany - 1; i >= 0; --i) MPI_Send(&i, 1, MPI_INT, peer, i, MPI_COMM_WORLD);
  say("many %s", name_of(MPI_Waitall(kMany, requests, statuses)));
  for (int i = 0; i < kMany; ++i) {
    wrong += numbers[i] != i || statuses[i].MPI_TAG != i || requests[i] != MPI_REQUEST_NULL;
  }
  say("wrong %d", wrong);
}

int main(int argc, char **argv) {
  start(argc, argv);
  nothing_to_wait_for();
  waits();
  persistent();
  cancelled();
  tests();
  generalized();
  many();
  MPI_Finalize();
  return 0;
}
