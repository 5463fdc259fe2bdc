// SPDX-License-Identifier: Apache-2.0
// Use of the runtime while the process ends: regions in atexit handlers, static and thread_local destructors and library
// destructors, exit called inside a region by the primary, by another member, and nested; application threads that are inside
// regions, or waiting, when main returns; quick_exit, _exit and abort.
#include "../support/modes.h"

#include <omp.h>
#include <pthread.h>

#include <string>

namespace {

int regions_at_end = 0;

void region(int threads)
{
  int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  {
    members++;
#pragma omp barrier
  }
  CHECK_EQ(members, threads);
  regions_at_end++;
}

// Last of all: says whether the handlers before it did what they should.
void verdict()
{
  if (regions_at_end != 1 || check_failures) {
    fprintf(stderr, "expected 1 region at the end, got %d\n", regions_at_end);
    _exit(50);
  }
}

struct static_object {
  bool armed = false;
  ~static_object()
  {
    if (!armed) return;
    region(3);
    if (regions_at_end != 1 || check_failures) _exit(51);
  }
} object;

struct thread_object {
  bool armed = false;
  ~thread_object()
  {
    if (armed) region(3);
  }
};
thread_local thread_object of_thread;

bool destructor_armed = false;
__attribute__((destructor)) void at_unload()
{
  if (!destructor_armed) return;
  region(3);
  if (regions_at_end != 1 || check_failures) _exit(52);
}

void use(int threads)
{
  int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  members++;
  CHECK_EQ(members, threads);
}

// Regions without end, as a thread of the application that nobody stops.
void *endless(void *nested)
{
  for (;;) {
#pragma omp parallel num_threads(3)
    {
      if (nested) {
#pragma omp parallel num_threads(2)
        {
#pragma omp barrier
        }
      }
#pragma omp barrier
    }
  }
}

// Stays inside one region for ever.
void *inside(void *)
{
#pragma omp parallel num_threads(3)
  {
    if (omp_get_thread_num() == 1) {
      for (;;) sleep(100);
    }
#pragma omp barrier
  }
  return nullptr;
}

void detach(void *(*function)(void *), void *argument)
{
  pthread_t thread;
  pthread_create(&thread, nullptr, function, argument);
  pthread_detach(thread);
}

int end_as(const std::string &mode)
{
  omp_set_max_active_levels(3);
  if (mode == "atexit-first") {
    atexit(verdict);
    atexit([] { region(3); });
    use(4);
  } else if (mode == "atexit-later") {
    use(4);
    atexit(verdict);
    atexit([] { region(3); });
  } else if (mode == "atexit-only") {
    atexit(verdict);
    atexit([] { region(3); });
  } else if (mode == "static") {
    use(4);
    object.armed = true;
  } else if (mode == "thread-local") {
    of_thread.armed = true;
    use(4);
    atexit(verdict);
  } else if (mode == "destructor") {
    use(4);
    destructor_armed = true;
  } else if (mode == "primary") {
#pragma omp parallel num_threads(4)
    if (omp_get_thread_num() == 0) exit(3);
  } else if (mode == "member") {
#pragma omp parallel num_threads(4)
    if (omp_get_thread_num() == 3) exit(3);
  } else if (mode == "member-others-wait") {
#pragma omp parallel num_threads(4)
    {
      if (omp_get_thread_num() == 2) {
        usleep(3000);
        exit(3);
      }
#pragma omp barrier
    }
  } else if (mode == "inner-member") {
#pragma omp parallel num_threads(3)
#pragma omp parallel num_threads(3)
    {
      if (omp_get_ancestor_thread_num(1) == 1 && omp_get_thread_num() == 2) exit(3);
#pragma omp barrier
    }
  } else if (mode == "task") {
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task firstprivate(i)
      if (i == 7) exit(3);
    }
  } else if (mode == "member-with-handler") {
    atexit(verdict);
    atexit([] { regions_at_end++; });
#pragma omp parallel num_threads(4)
    if (omp_get_thread_num() == 1) exit(3);
  } else if (mode == "busy-thread") {
    use(4);
    detach(endless, nullptr);
    usleep(3000);
  } else if (mode == "busy-thread-nested") {
    detach(endless, &regions_at_end);
    usleep(3000);
    use(2);
  } else if (mode == "waiting-thread") {
    detach(inside, nullptr);
    usleep(3000);
    use(3);
  } else if (mode == "pthread-exit") {
    // The initial thread ends first; the process ends with the last thread.
    use(3);
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void *) -> void * {
          usleep(5000);
          use(4);
          exit(check_result() ? 1 : 3);
        },
        nullptr);
    pthread_exit(nullptr);
  } else if (mode == "quick-exit") {
#pragma omp parallel num_threads(4)
    if (omp_get_thread_num() == 2) quick_exit(3);
  } else if (mode == "_exit") {
#pragma omp parallel num_threads(4)
    if (omp_get_thread_num() == 2) _exit(3);
  } else {
    return 77;
  }
  return check_result();
}

}  // namespace

int main(int count, char **arguments)
{
  if (count > 1) return end_as(arguments[1]);
  for (const char *mode : {"atexit-first", "atexit-later", "atexit-only", "static", "thread-local", "destructor",
                           "busy-thread", "busy-thread-nested", "waiting-thread"})
    EXPECT_EXIT(mode, 0);
  for (const char *mode : {"primary", "member", "member-others-wait", "inner-member", "task", "member-with-handler",
                           "pthread-exit", "quick-exit", "_exit"})
    EXPECT_EXIT(mode, 3);
  return check_result();
}
