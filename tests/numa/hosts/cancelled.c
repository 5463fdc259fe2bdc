// SPDX-License-Identifier: Apache-2.0
// Threads are cancelled while they wait in calls that have the array as their buffer.
#include "busy.h"

#include <sys/uio.h>

static char *array = NULL;
static int ends[2];

static void *wait_for_input(void *argument) {
  const struct iovec part = {array + PAGE, PAGE};
  if (argument == NULL) {
    (void)!read(ends[0], array, PAGE);
  } else {
    (void)!readv(ends[0], &part, 1);
  }
  return NULL;
}

int main(int count, char **arguments) {
  begin(count, arguments);
  array = make_array();
  CHECK(pipe(ends) == 0);
  for (size_t i = 0; i < 4; ++i) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wait_for_input, (void *)(i % 2)) == 0);
    usleep(20000);
    void *result = NULL;
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  }
  while (goes_on()) {
    for (size_t i = 0; i < SIZE; i += 64) ++array[i];
  }
  return 0;
}
