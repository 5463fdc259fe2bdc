// SPDX-License-Identifier: Apache-2.0
// A message that goes to and fro. An item is one way.
#include <stdlib.h>

#include "common/report.h"
#include "mpi/common/job.h"
#include "mpi/micro/micro.h"

struct game {
  long count;
  int bytes, rank;
  char* buffer;
  double seconds;
};

static void play(void* argument) {
  struct game* game = argument;
  const int other = 1 - game->rank;
  const double start = now();
  for (long i = 0; i < game->count; i++) {
    if (i % 2 == game->rank)
      MPI_Send(game->buffer, game->bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD);
    else
      MPI_Recv(game->buffer, game->bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  game->seconds = now() - start;
}

static double ping_pong(const struct measurement* self, long count) {
  // An even number of ways: rank 0 receives the last message.
  struct game game = {.count = 2 * count, .bytes = self->bytes, .rank = rank_in(MPI_COMM_WORLD)};
  game.buffer = allocated((size_t)self->bytes, 1);
  run_in(self->in_task, play, &game);
  free(game.buffer);
  return game.seconds / 2;
}

#define BOTH(size)                                                                      \
  {.name = "ping_pong_outside_" #size, .run = ping_pong, .bytes = size}, {              \
    .name = "ping_pong_inside_" #size, .run = ping_pong, .bytes = size, .in_task = true \
  }

const struct measurement ping_pong_measurements[] = {
    BOTH(8), BOTH(64), BOTH(512), BOTH(4096), BOTH(32768), BOTH(262144), BOTH(1048576), {0},
};
