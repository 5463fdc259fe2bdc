/* SPDX-License-Identifier: Apache-2.0 */
/* A table that several processes read and one changes. Some of the readers are killed on the way, and once the writer,
 * in the middle of a change: the others go on, and the next writer mends the table.
 *
 *     cc table.c $(pkg-config --cflags --libs weft-shm) -o table && ./table */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/rwlock.h>

enum { kReaders = 4, kRows = 8, kRounds = 2000 };

/* What the lock guards: every row has the same version. */
struct table {
  long version[kRows];
};

static void check(int error, const char *what) {
  if (error == 0) return;
  fprintf(stderr, "table: %s: %s\n", what, weft_shm_error());
  exit(1);
}

static void *share(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("table: mmap");
    exit(1);
  }
  return memory;
}

/* Until it is killed, or the table is complete. */
static void read_rows(weft_rwlock *lock, const volatile struct table *table) {
  weft_rwlock_reader *reader;
  check(weft_rwlock_register(&reader, lock), "register");
  for (long seen = 0; seen < kRounds;) {
    const int error = weft_rwlock_rdlock(reader);
    if (error == EOWNERDEAD) continue; /* the next writer mends the table */
    check(error, "rdlock");
    seen = table->version[0];
    for (int row = 1; row < kRows; ++row) {
      if (table->version[row] != seen) {
        fprintf(stderr, "table: a reader sees half a change\n");
        exit(1);
      }
    }
    check(weft_rwlock_rdunlock(reader), "rdunlock");
  }
  check(weft_rwlock_unregister(reader), "unregister");
}

/* One change after the other; dies in the middle of change number `last`. */
static void write_rows(weft_rwlock *lock, volatile struct table *table, long last) {
  for (;;) {
    const int error = weft_rwlock_wrlock(lock);
    if (error == EOWNERDEAD) {
      /* The first row is changed first: take the others to where it is. */
      for (int row = 1; row < kRows; ++row) table->version[row] = table->version[0];
      check(weft_rwlock_consistent(lock), "consistent");
      printf("the table is mended at version %ld\n", table->version[0]);
    } else {
      check(error, "wrlock");
    }
    const long version = table->version[0] + 1;
    const int done = version > kRounds;
    for (int row = 0; row < kRows && !done; ++row) {
      table->version[row] = version;
      if (version == last && row == kRows / 2) kill(getpid(), SIGKILL);
    }
    check(weft_rwlock_wrunlock(lock), "wrunlock");
    if (done) return;
  }
}

int main(void) {
  const size_t bytes = weft_rwlock_size(kReaders);
  void *memory = share(bytes);
  volatile struct table *table = share(sizeof *table);
  weft_rwlock *lock;
  check(weft_rwlock_create(memory, bytes, kReaders, 0), "create");
  check(weft_rwlock_attach(&lock, memory, bytes), "attach");

  pid_t readers[kReaders];
  for (int i = 0; i < kReaders; ++i) {
    readers[i] = fork();
    if (readers[i] == 0) {
      read_rows(lock, table);
      return 0;
    }
  }
  const pid_t writer = fork();
  if (writer == 0) write_rows(lock, table, kRounds / 2);
  kill(readers[0], SIGKILL);
  waitpid(writer, NULL, 0); /* killed by itself */
  write_rows(lock, table, -1);

  for (int i = 0; i < kReaders; ++i) {
    int status;
    waitpid(readers[i], &status, 0);
    if (i > 0 && status != 0) return 1;
  }
  printf("%ld versions, seen whole by %d readers\n", table->version[0], kReaders - 1);
  check(weft_rwlock_destroy(lock), "destroy");
  check(weft_rwlock_detach(lock), "detach");
  return 0;
}
