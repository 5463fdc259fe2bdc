// SPDX-License-Identifier: Apache-2.0
// flush with every memory order: message passing, and a store-load handshake of two members (Dekker).
#include "../support/check.h"
#include "../support/everywhere.h"

static void message(int threads)
{
  int data = 0, ready = 0, received = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == threads - 1) {
      data = 5;
#pragma omp flush
#pragma omp atomic write
      ready = 1;
#pragma omp flush release
    } else {
      int seen = 0;
      while (!seen) {
#pragma omp atomic read
        seen = ready;
#pragma omp flush acquire
      }
#pragma omp flush
      CHECK_EQ(data, 5);
#pragma omp atomic
      received++;
    }
  }
  CHECK_EQ(received, threads - 1);
}

// At least one of two members must see the other's store.
static void handshake(int threads)
{
  if (threads < 2) return;
  for (int round = 0; round < 200; round++) {
    int flags[2] = {0, 0}, saw[2] = {0, 0};
#pragma omp parallel num_threads(2)
    {
      int me = omp_get_thread_num(), *mine = &flags[me], *other = &flags[1 - me];
#pragma omp atomic write
      *mine = 1;
#pragma omp flush
#pragma omp atomic read
      saw[me] = *other;
    }
    CHECK(saw[0] || saw[1]);
  }
}

int main(void)
{
  omp_set_max_active_levels(3);
  message(1);
  message(2);
  message(3);
  message(5);
#pragma omp parallel num_threads(3)
  message(2);
  handshake(2);
  return check_result();
}
