// SPDX-License-Identifier: Apache-2.0
// To be preloaded: as many threads that the program has made run at a time as there are CPUs; the others wait for their
// turn. docs/explanation/all-threads.md says what is measured by it, and why it is no part of weft.
//
// A thread runs while it has a slot. It gives the slot back where it blocks (mutexes, condition variables, semaphores,
// joins, polls, sleeps, futexes by syscall()) and takes one before it goes on. Slots are passed on in the order in which
// threads have asked. A watcher looks every 5 ms whether somebody waits: it takes the slots of threads that sleep in a
// call that is not known here, and lets one more run where a thread has had its slot for 20 ms. So nobody waits for ever.
//
// TURNS_SLOTS: how many (the CPUs that the process may use). TURNS_STATS=1: counts on stderr at the end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kTickNs = 5000000, kTicksOfATurn = 4, kTries = 100 };

typedef enum { kNone, kHasSlot, kSlotTaken } Slot;  // kSlotTaken: it runs, and the watcher has given its slot to another

typedef struct Thread Thread;
struct Thread {
  _Atomic Slot slot;
  atomic_int called;  // a futex: its turn has come
  atomic_ulong turns;
  pid_t id;
  bool used;
  Thread* next_waiting;
  Thread* next;
  unsigned long turns_seen;  // the watcher's, both
  int ticks;
};

// Sequentially consistent, as all atomics here: how many slots are given out, and, in the upper half, how many threads
// wait for one.
static atomic_uint_fast64_t state;
static uint64_t const kOneWaits = UINT64_C(1) << 32;
static uint32_t slots_out(uint64_t value) { return (uint32_t)value; }
static uint32_t waiting(uint64_t value) { return (uint32_t)(value >> 32); }

static uint32_t slots;
static __thread Thread* self;
static Thread* _Atomic threads;
static atomic_int watcher_called;
static atomic_ulong waits, beyond, asleep, long_turns;

static pthread_mutex_t registration = PTHREAD_MUTEX_INITIALIZER;
static atomic_flag queue_lock = ATOMIC_FLAG_INIT;
static Thread *first_waiting, *last_waiting;

#define LIBC(function) static __typeof__(function)* libc_##function
LIBC(clock_nanosleep);
LIBC(epoll_wait);
LIBC(nanosleep);
LIBC(poll);
LIBC(pthread_cond_clockwait);
LIBC(pthread_cond_timedwait);
LIBC(pthread_cond_wait);
LIBC(pthread_create);
LIBC(pthread_join);
LIBC(pthread_mutex_lock);
LIBC(sched_yield);
LIBC(sem_timedwait);
LIBC(sem_wait);
LIBC(syscall);
LIBC(usleep);

static void lock_queue(void) {
  while (atomic_flag_test_and_set(&queue_lock)) libc_sched_yield();
}
static void unlock_queue(void) { atomic_flag_clear(&queue_lock); }

static void await(atomic_int* word, int value) { libc_syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0); }
static void wake(atomic_int* word) { libc_syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }

// Passes a slot on to the first that waits, or puts it back. One that was given out beyond `slots` is put back.
static void give_slot(void) {
  for (;;) {
    uint64_t now = atomic_load(&state);
    if (waiting(now) == 0 || slots_out(now) > slots) {
      if (atomic_compare_exchange_weak(&state, &now, now - 1)) return;
      continue;
    }
    lock_queue();
    Thread* next = first_waiting;
    if (next != NULL) {
      first_waiting = next->next_waiting;
      if (first_waiting == NULL) last_waiting = NULL;
      atomic_fetch_sub(&state, kOneWaits);
    }
    unlock_queue();
    if (next == NULL) continue;
    atomic_store(&next->slot, kHasSlot);
    atomic_store(&next->called, 1);
    wake(&next->called);
    return;
  }
}

static bool try_take(bool at_once) {
  uint64_t now = atomic_load(&state);
  while (at_once || (slots_out(now) < slots && waiting(now) == 0)) {
    if (!atomic_compare_exchange_weak(&state, &now, now + 1)) continue;
    if (slots_out(now) >= slots) beyond++;
    self->turns++;
    atomic_store(&self->slot, kHasSlot);
    return true;
  }
  return false;
}

static void queue_up(void) {
  Thread* mine = self;
  mine->turns++;
  atomic_store(&mine->called, 0);
  mine->next_waiting = NULL;
  lock_queue();
  *(last_waiting != NULL ? &last_waiting->next_waiting : &first_waiting) = mine;
  last_waiting = mine;
  atomic_fetch_add(&state, kOneWaits);
  unlock_queue();
  // A slot that was put back before the caller stood in the queue goes to the first of it.
  uint64_t now = atomic_load(&state);
  while (slots_out(now) < slots && waiting(now) > 0) {
    if (!atomic_compare_exchange_weak(&state, &now, now + 1)) continue;
    give_slot();
    break;
  }
  if (atomic_exchange(&watcher_called, 1) == 0) wake(&watcher_called);
  waits++;
  while (atomic_load(&mine->called) == 0) await(&mine->called, 0);
}

// At once: the caller holds what others may wait for.
static void take_slot(bool at_once) {
  if (atomic_load(&self->slot) != kNone) return;
  if (!try_take(at_once)) queue_up();
}

// Whether the caller has to take a slot before it goes on.
static bool leave(void) {
  if (self == NULL) return false;
  const Slot had = atomic_exchange(&self->slot, kNone);
  if (had == kHasSlot) give_slot();
  return had != kNone;
}

static char state_of(pid_t id) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)id);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 'X';
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return 'X';
  text[size] = '\0';
  const char* name_end = strrchr(text, ')');
  return name_end != NULL && name_end[1] != '\0' ? name_end[2] : 'X';
}

static void look_at(Thread* thread) {
  if (atomic_load(&thread->slot) != kHasSlot) return;
  if (thread->turns != thread->turns_seen) {
    thread->turns_seen = thread->turns;
    thread->ticks = 0;
  }
  const char now = state_of(thread->id);
  const bool sleeps = now == 'S' || now == 'D';
  if (!sleeps && ++thread->ticks < kTicksOfATurn) return;
  Slot expected = kHasSlot;
  if (!atomic_compare_exchange_strong(&thread->slot, &expected, kSlotTaken)) return;
  ++*(sleeps ? &asleep : &long_turns);
  give_slot();
}

static void* watch(void* unused) {
  (void)unused;
  for (;;) {
    if (waiting(atomic_load(&state)) == 0) {
      atomic_store(&watcher_called, 0);
      if (waiting(atomic_load(&state)) == 0) await(&watcher_called, 0);
    }
    libc_nanosleep(&(struct timespec){.tv_nsec = kTickNs}, NULL);
    for (Thread* thread = threads; thread != NULL && waiting(atomic_load(&state)) > 0; thread = thread->next) look_at(thread);
  }
  return NULL;
}

__attribute__((destructor)) static void tell(void) {
  if (getenv("TURNS_STATS") == NULL) return;
  fprintf(stderr, "turns: %lu waits, %lu beyond the slots, %lu slots of sleepers taken, %lu long turns\n", waits, beyond,
          asleep, long_turns);
}

// Only the thread that has forked is there, and no watcher.
static void begin_child(void) {
  const bool has_slot = self != NULL && atomic_load(&self->slot) == kHasSlot;
  for (Thread* thread = threads; thread != NULL; thread = thread->next) {
    if (thread == self) continue;
    thread->used = false;
    atomic_store(&thread->slot, kNone);
  }
  if (self != NULL) self->id = (pid_t)libc_syscall(SYS_gettid);
  first_waiting = last_waiting = NULL;
  atomic_flag_clear(&queue_lock);
  registration = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  atomic_store(&state, has_slot ? 1 : 0);
  atomic_store(&watcher_called, 0);
  pthread_t watcher;
  libc_pthread_create(&watcher, NULL, watch, NULL);
}

__attribute__((constructor)) static void begin(void) {
// ISO C has no conversion from what dlsym() returns.
#define FIND(function) *(void**)&libc_##function = dlsym(RTLD_NEXT, #function)
  FIND(clock_nanosleep), FIND(epoll_wait), FIND(nanosleep), FIND(poll), FIND(pthread_cond_clockwait);
  FIND(pthread_create), FIND(pthread_join), FIND(pthread_mutex_lock), FIND(sched_yield), FIND(sem_timedwait);
  FIND(sem_wait), FIND(syscall), FIND(usleep);
  // dlsym() finds those of programs older than these.
  *(void**)&libc_pthread_cond_wait = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
  *(void**)&libc_pthread_cond_timedwait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  if (libc_pthread_cond_wait == NULL) FIND(pthread_cond_wait), FIND(pthread_cond_timedwait);
  cpu_set_t mask;
  slots = sched_getaffinity(0, sizeof mask, &mask) == 0 ? (uint32_t)CPU_COUNT(&mask) : 1;
  const char* wanted = getenv("TURNS_SLOTS");
  if (wanted != NULL && atoi(wanted) > 0) slots = (uint32_t)atoi(wanted);
  pthread_t watcher;
  libc_pthread_create(&watcher, NULL, watch, NULL);
  pthread_atfork(NULL, NULL, begin_child);
}

// ---- threads ----

static void enter(void) {
  libc_pthread_mutex_lock(&registration);
  Thread* mine = threads;
  while (mine != NULL && mine->used) mine = mine->next;
  if (mine == NULL && (mine = calloc(1, sizeof *mine)) != NULL) {
    mine->next = threads;
    threads = mine;
  }
  if (mine != NULL) mine->used = true;
  pthread_mutex_unlock(&registration);
  if (mine == NULL) return;
  mine->id = (pid_t)libc_syscall(SYS_gettid);
  self = mine;
  take_slot(false);
}

static void end(void* unused) {
  (void)unused;
  if (self == NULL) return;
  leave();
  Thread* mine = self;
  self = NULL;
  libc_pthread_mutex_lock(&registration);
  mine->used = false;
  pthread_mutex_unlock(&registration);
}

typedef struct {
  void* (*run)(void*);
  void* argument;
} Start;

static void* live(void* given) {
  const Start start = *(Start*)given;
  free(given);
  enter();
  void* result;
  pthread_cleanup_push(end, NULL);
  result = start.run(start.argument);
  pthread_cleanup_pop(1);
  return result;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  Start* start = malloc(sizeof *start);
  if (start == NULL) return EAGAIN;
  *start = (Start){run, argument};
  const int error = libc_pthread_create(thread, attributes, live, start);
  if (error != 0) free(start);
  return error;
}

// ---- where threads block ----

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (libc_pthread_mutex_lock == NULL) FIND(pthread_mutex_lock);
  if (self == NULL) return libc_pthread_mutex_lock(mutex);
  for (int i = 0; i < kTries; ++i) {
    const int error = pthread_mutex_trylock(mutex);
    if (error != EBUSY) return error;
  }
  const bool again = leave();
  const int error = libc_pthread_mutex_lock(mutex);
  if (again) take_slot(true);
  return error;
}

// A thread that has been woken has its mutex, which others want, and may have to wait for a slot.
static int after_wait(pthread_mutex_t* mutex, bool again, int error) {
  if (!again || try_take(false)) return error;
  pthread_mutex_unlock(mutex);
  take_slot(false);
  pthread_mutex_lock(mutex);
  return error;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  const bool again = leave();
  return after_wait(mutex, again, libc_pthread_cond_wait(condition, mutex));
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const struct timespec* until) {
  const bool again = leave();
  return after_wait(mutex, again, libc_pthread_cond_timedwait(condition, mutex, until));
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  const bool again = leave();
  return after_wait(mutex, again, libc_pthread_cond_clockwait(condition, mutex, clock, until));
}

#define WITHOUT_SLOT(call)      \
  const bool again = leave();   \
  const int result = call;      \
  const int error = errno;      \
  if (again) take_slot(false);  \
  errno = error;                \
  return result

int sem_wait(sem_t* semaphore) {
  if (sem_trywait(semaphore) == 0) return 0;
  WITHOUT_SLOT(libc_sem_wait(semaphore));
}

int sem_timedwait(sem_t* semaphore, const struct timespec* until) {
  if (sem_trywait(semaphore) == 0) return 0;
  WITHOUT_SLOT(libc_sem_timedwait(semaphore, until));
}

int pthread_join(pthread_t thread, void** result_of_thread) { WITHOUT_SLOT(libc_pthread_join(thread, result_of_thread)); }

int poll(struct pollfd* files, nfds_t count, int milliseconds) {
  if (milliseconds == 0) return libc_poll(files, count, 0);
  WITHOUT_SLOT(libc_poll(files, count, milliseconds));
}

int epoll_wait(int file, struct epoll_event* events, int most, int milliseconds) {
  if (milliseconds == 0) return libc_epoll_wait(file, events, most, 0);
  WITHOUT_SLOT(libc_epoll_wait(file, events, most, milliseconds));
}

int nanosleep(const struct timespec* time, struct timespec* left) { WITHOUT_SLOT(libc_nanosleep(time, left)); }
int usleep(useconds_t time) { WITHOUT_SLOT(libc_usleep(time)); }
int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time, struct timespec* left) {
  WITHOUT_SLOT(libc_clock_nanosleep(clock, flags, time, left));
}

int sched_yield(void) {
  if (self == NULL || waiting(atomic_load(&state)) == 0 || !leave()) return libc_sched_yield();
  take_slot(false);
  return 0;
}

// Rust's locks, and those of the C++ library's atomics.
long syscall(long number, ...) {
  if (libc_syscall == NULL) FIND(syscall);
  va_list list;
  va_start(list, number);
  long words[6];
  for (int i = 0; i < 6; ++i) words[i] = va_arg(list, long);
  va_end(list);
  const long operation = words[1] & ~(long)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
  const bool waits_for_word = number == SYS_futex && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET);
  const bool again = waits_for_word && *(volatile int*)words[0] == (int)words[2] && leave();
  const long result = libc_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
  const int error = errno;
  if (again) take_slot(false);
  errno = error;
  return result;
}
