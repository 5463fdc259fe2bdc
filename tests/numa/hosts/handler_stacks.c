// SPDX-License-Identifier: Apache-2.0
// Handlers run on stacks of every size: on small ones of the program's, with something else below; and without one,
// though they ask for one, with all the room that the thread has.
#include "busy.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static volatile char sink;

static void use_much(int number) {
  volatile char room[600 << 10];
  for (size_t i = sizeof room; i > 0; i -= 512) room[i - 1] = (char)number;
  sink = room[511];
}

static void leave(int number) {
  (void)number;
  _exit(7);
}

static void become(int number) {
  (void)number;
  execl("/bin/sh", "sh", "-c", "exit 8", (char *)NULL);
  _exit(1);
}

static void *use_much_in_thread(void *nothing) {
  raise(SIGUSR1);
  return nothing;
}

static void end_on(size_t size, void (*handler)(int)) {
  char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  char *lowest = memory + (1 << 19);
  CHECK(mprotect(lowest - (64 << 10), 64 << 10, PROT_NONE) == 0);
  const stack_t stack = {.ss_sp = lowest, .ss_size = size};
  CHECK(sigaltstack(&stack, NULL) == 0);
  stack_t told;
  CHECK(sigaltstack(NULL, &told) == 0 && told.ss_sp == lowest && told.ss_size == size && told.ss_flags == 0);
  const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  char *array = make_array();
  for (size_t i = 0; i < SIZE; i += 64) ++array[i];
  raise(SIGUSR1);
}

int main(int count, char **arguments) {
  begin(count, arguments);
  if (count > 2) {
    end_on(strtoul(arguments[2], NULL, 10), count > 3 ? become : leave);
    return 9;
  }
  stack_t none;
  CHECK(sigaltstack(NULL, &none) == 0 && none.ss_flags == SS_DISABLE);
  const struct sigaction action = {.sa_handler = use_much, .sa_flags = SA_ONSTACK};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  struct sigaction told;
  CHECK(sigaction(SIGUSR1, NULL, &told) == 0 && told.sa_handler == use_much && (told.sa_flags & SA_ONSTACK) != 0);
  char *array = make_array();
  raise(SIGUSR1);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, use_much_in_thread, NULL) == 0);
  pthread_join(thread, NULL);
  // One of the program's own, and back.
  static char room[256 << 10];
  const stack_t own = {.ss_sp = room, .ss_size = sizeof room};
  stack_t before;
  CHECK(sigaltstack(&own, &before) == 0 && before.ss_flags == SS_DISABLE);
  CHECK(sigaltstack(&before, &none) == 0 && none.ss_sp == room && none.ss_size == sizeof room);
  CHECK(sigaltstack(NULL, &none) == 0 && none.ss_flags == SS_DISABLE);
  for (; goes_on(); usleep(100)) {
    for (size_t i = 0; i < SIZE; i += 64) ++array[i];
  }
  return 0;
}
