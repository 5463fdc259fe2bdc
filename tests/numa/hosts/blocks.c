// SPDX-License-Identifier: Apache-2.0
// Threads make, enlarge, move and free blocks all the time.
#include "busy.h"

#include <malloc.h>
#include <sys/mman.h>

enum { THREADS = 4 };

static void *work(void *argument) {
  unsigned state = (unsigned)(size_t)argument;
  while (goes_on()) {
    state = state * 1103515245U + 12345;
    const size_t size = (1 + (state >> 16) % 8) * (768 << 10);
    char *block = NULL;
    switch ((state >> 8) % 5) {
      case 0: block = malloc(size); break;
      case 1: block = calloc(size / 8, 8); break;
      case 2: block = aligned_alloc(PAGE, size); break;
      case 3: CHECK(posix_memalign((void **)&block, 64, size) == 0); break;
      default: block = realloc(NULL, size);
    }
    CHECK(block != NULL && malloc_usable_size(block) >= size);
    memset(block, 3, size);
    block = realloc(block, 2 * size);
    CHECK(block != NULL && block[0] == 3 && block[size - 1] == 3);
    for (size_t i = 0; i < size; i += 64) CHECK(block[i] == 3);
    if (state % 3 == 0) CHECK(madvise(block + PAGE - (size_t)block % PAGE, size / PAGE * PAGE / 2, MADV_DONTNEED) == 0);
    block = realloc(block, 100);
    CHECK(block != NULL);
    free(block);
  }
  return NULL;
}

int main(int count, char **arguments) {
  begin(count, arguments);
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; ++i) CHECK(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  return 0;
}
