// SPDX-License-Identifier: Apache-2.0
// A rank that waits in a collective goes on with what others wait for: long messages, non-blocking collectives, windows.
#include "check.h"

enum { kLength = 1 << 20 };

static int g_root;

// One after the other, each as the wait.
static void wait_in(int operation, int kind) {
  int value = check_rank, sum = 0, all[64], send[64];
  (void)kind;
  memset(send, 0, sizeof send);
  switch (operation) {
    case 0: MPI_Barrier(MPI_COMM_WORLD); break;
    case 1: MPI_Bcast(&value, 1, MPI_INT, g_root, MPI_COMM_WORLD); break;
    case 2: MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); break;
    case 3: MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); break;
    case 4: MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD); break;
    default: MPI_Alltoall(send, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD); break;
  }
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check_begin();
  unsigned char* data = malloc(kLength);
  const int last = check_size - 1;
  // The one that is late is the root, so that the others do wait.
  g_root = last;
  for (int round = 0; round < 12; ++round) {
    const int operation = round % 6;
    // A message too long to be sent ahead: it needs rank 0 again when the last rank receives it.
    MPI_Request request = MPI_REQUEST_NULL;
    if (check_rank == 0) {
      fill(data, kLength, 0, round);
      MPI_Isend(data, kLength, MPI_BYTE, last, round, MPI_COMM_WORLD, &request);
    }
    if (check_rank == last) {
      MPI_Recv(data, kLength, MPI_BYTE, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(first_wrong(data, kLength, 0, round, 0) == kLength, "the message is another");
    }
    wait_in(operation, round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    // A collective that does not block; only the last rank waits for it before it comes.
    MPI_Ibcast(data, kLength, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    if (check_rank == last) MPI_Wait(&request, MPI_STATUS_IGNORE);
    wait_in(operation, round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(first_wrong(data, kLength, 0, round, 0) == kLength, "bcast that does not block: other data");
  }

  // A window: the last rank adds to rank 0's numbers while that one waits.
  long* window;
  MPI_Win win;
  MPI_Win_allocate(4096 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  for (int i = 0; i < 4096; ++i) window[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < 12; ++round) {
    if (check_rank == last) {
      long* ones = malloc(4096 * sizeof(long));
      for (int i = 0; i < 4096; ++i) ones[i] = 1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
      MPI_Accumulate(ones, 4096, MPI_LONG, 0, 0, 4096, MPI_LONG, MPI_SUM, win);
      MPI_Win_unlock(0, win);
      free(ones);
    }
    wait_in(round % 6, round);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
      for (int i = 0; i < 4096; ++i) CHECK(window[i] == round + 1, "the window has %ld in round %d", window[i], round);
      MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&win);
  free(data);
  return check_end();
}
