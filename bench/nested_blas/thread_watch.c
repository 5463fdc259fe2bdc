// SPDX-License-Identifier: Apache-2.0
#include "nested_blas/thread_watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/report.h"

struct thread_watch {
  pthread_t thread;
  atomic_int stop;
  int most;
};

static void* look(void* given) {
  thread_watch* watch = given;
  do {
    const int threads = count_threads() - 1;
    if (threads > watch->most) watch->most = threads;
    usleep(1000);
  } while (!atomic_load(&watch->stop));
  return NULL;
}

thread_watch* watch_threads(void) {
  thread_watch* watch = calloc(1, sizeof *watch);
  if (watch && pthread_create(&watch->thread, NULL, look, watch) == 0) return watch;
  free(watch);
  return NULL;
}

int end_watch(thread_watch* watch) {
  if (!watch) return 0;
  atomic_store(&watch->stop, 1);
  pthread_join(watch->thread, NULL);
  const int most = watch->most;
  free(watch);
  return most;
}
