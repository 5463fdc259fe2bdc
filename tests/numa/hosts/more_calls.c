// SPDX-License-Identifier: Apache-2.0
// Calls that pass memory of the array to the kernel in ways of their own: requests, queues, random numbers, populating,
// locking, and whatever syscall() passes.
#include "busy.h"

#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <mqueue.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

enum { LARGE = 8 << 20 };
#define POPULATE_READ 22
#define POPULATE_WRITE 23

static char *fresh(void) {
  char *array = malloc(LARGE);
  if (array == NULL) abort();
  return array;
}

static int print_list(int file, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int result = vdprintf(file, format, list);
  va_end(list);
  return result;
}

static void whole_arrays(int file, int zero) {
  char *array = fresh();
  // Newer C libraries alone have it.
  void (*random_bytes)(void *, size_t) = (void (*)(void *, size_t))(size_t)dlsym(RTLD_DEFAULT, "arc4random_buf");
  if (random_bytes != NULL) random_bytes(array, LARGE);
  free(array);

  array = fresh();
  char *inner = array + PAGE - (size_t)array % PAGE;
  CHECK(madvise(inner, LARGE - 2 * PAGE, POPULATE_WRITE) == 0 || errno == EINVAL);
  free(array);
  array = fresh();
  inner = array + PAGE - (size_t)array % PAGE;
  CHECK(madvise(inner, LARGE - 2 * PAGE, POPULATE_READ) == 0 || errno == EINVAL);
  free(array);

  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
  if (limit.rlim_cur >= LARGE / 4) {
    array = fresh();
    CHECK(mlock(array - (size_t)array % PAGE, LARGE / 8) == 0);
    CHECK(munlock(array - (size_t)array % PAGE, LARGE / 8) == 0);
    free(array);
  }

  array = fresh();
  const struct iovec whole = {array, LARGE};
  CHECK(syscall(SYS_readv, zero, &whole, 1) == LARGE);
  free(array);

  array = fresh();
  struct aiocb request = {.aio_fildes = file, .aio_buf = array, .aio_nbytes = LARGE, .aio_lio_opcode = LIO_READ};
  struct aiocb *requests[] = {&request};
  CHECK(lio_listio(LIO_WAIT, requests, 1, NULL) == 0 && aio_return(&request) == LARGE);
  free(array);

  array = make_array();
  memset(array, 'x', LARGE - 1);
  array[LARGE - 1] = '\0';
  CHECK(lseek(file, 0, SEEK_SET) == 0);
  CHECK(dprintf(file, "%s", array) == LARGE - 1);
  CHECK(lseek(file, 0, SEEK_SET) == 0);
  CHECK(print_list(file, "%5d %-8.3f %Lf %zu %.*s %c %s", 1, 2.0, 3.0L, sizeof array, 2, "abc", 'c', array) > LARGE);
  free(array);
}

static void records(char *array, int events, int timer, mqd_t queue) {
  static char message[8192];
  const struct timespec soon = {time(NULL) + 20, 0};
  for (size_t at = PAGE; at + 4 * PAGE < SIZE && goes_on(); at += 3 * PAGE) {
    char *here = array + at;
    if (queue >= 0) {
      CHECK(mq_send(queue, message, sizeof message, 0) == 0);
      CHECK(mq_timedreceive(queue, here, sizeof message, NULL, &soon) == (ssize_t)sizeof message);
    }
    const struct timespec none = {0, 0};
    CHECK(epoll_pwait2(events, (struct epoll_event *)here, 10, &none, NULL) == 1 || errno == ENOSYS);
    CHECK(timerfd_gettime(timer, (struct itimerspec *)here) == 0);
    CHECK(getrlimit(RLIMIT_CORE, (struct rlimit *)(here + PAGE)) == 0);
    CHECK(prlimit(0, RLIMIT_CORE, NULL, (struct rlimit *)here) == 0);
    CHECK(getgroups(100, (gid_t *)(here + PAGE)) >= 0);
    CHECK(clock_getres(CLOCK_MONOTONIC, (struct timespec *)here) == 0);
    sigemptyset((sigset_t *)here);
    sigaddset((sigset_t *)here, SIGUSR2);
    raise(SIGUSR2);
    CHECK(sigtimedwait((sigset_t *)here, (siginfo_t *)(here + PAGE), &none) == SIGUSR2);
  }
}

int main(int count, char **arguments) {
  begin(count, arguments);
  char *array = make_array();
  char name[] = "/tmp/weft-numa-test-XXXXXX";
  const int file = mkstemp(name);
  const int zero = open("/dev/zero", O_RDONLY);
  CHECK(file >= 0 && zero >= 0 && ftruncate(file, LARGE) == 0);
  const int events = epoll_create1(0);
  const int event = eventfd(1, 0);
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct epoll_event wanted = {.events = EPOLLIN};
  CHECK(events >= 0 && event >= 0 && timer >= 0 && epoll_ctl(events, EPOLL_CTL_ADD, event, &wanted) == 0);
  char queue_name[64];
  snprintf(queue_name, sizeof queue_name, "/weft-numa-test-%d", (int)getpid());
  struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 8192};
  const mqd_t queue = mq_open(queue_name, O_CREAT | O_RDWR, 0600, &attributes);
  sigset_t user;
  sigemptyset(&user);
  sigaddset(&user, SIGUSR2);
  CHECK(sigprocmask(SIG_BLOCK, &user, NULL) == 0);
  while (goes_on()) {
    whole_arrays(file, zero);
    records(array, events, timer, queue);
  }
  // The kernel's own requests: nothing is protected any more.
  aio_context_t context = 0;
  if (syscall(SYS_io_setup, 8, &context) == 0) {
    char *whole = fresh();
    struct iocb request = {.aio_fildes = (unsigned)file,
                           .aio_lio_opcode = IOCB_CMD_PREAD,
                           .aio_buf = (unsigned long long)(size_t)whole,
                           .aio_nbytes = LARGE};
    struct iocb *list[] = {&request};
    struct io_event done = {0};
    CHECK(syscall(SYS_io_submit, context, 1L, list) == 1);
    CHECK(syscall(SYS_io_getevents, context, 1L, 1L, &done, NULL) == 1 && done.res == LARGE);
  }
  if (queue >= 0) mq_unlink(queue_name);
  unlink(name);
  return 0;
}
