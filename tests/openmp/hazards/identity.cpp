// SPDX-License-Identifier: Apache-2.0
// A member is a thread to everything that asks: pthread_self and the thread id of C++ tell members apart and stay the same over
// barriers, tasks and inner regions, stack bounds hold its frames, and keys and once-flags work as between threads.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <pthread.h>
#include <sys/syscall.h>

#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace {

struct identity {
  pthread_t thread = pthread_self();
  std::thread::id id = std::this_thread::get_id();

  void check_unchanged() const
  {
    CHECK(pthread_equal(thread, pthread_self()));
    CHECK(id == std::this_thread::get_id());
  }
};

void kept_and_distinct(int threads)
{
  std::vector<std::thread::id> ids(static_cast<std::size_t>(threads));
  int members = 0;
#pragma omp parallel num_threads(threads)
  {
    const identity before;
    ids[static_cast<std::size_t>(omp_get_thread_num())] = before.id;
#pragma omp atomic
    members++;
#pragma omp barrier
    before.check_unchanged();
#pragma omp parallel num_threads(3)
    {
      const identity inside;
      if (omp_get_thread_num() == 0) before.check_unchanged();
#pragma omp barrier
      inside.check_unchanged();
    }
    before.check_unchanged();
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 4 * omp_get_num_threads(); i++) {
#pragma omp task
      usleep(0);
    }
    before.check_unchanged();
  }
  // All members were there at once, since there is a barrier between.
  ids.resize(static_cast<std::size_t>(members));
  CHECK_EQ((std::set<std::thread::id>(ids.begin(), ids.end()).size()), members);
}

// A thread keeps its number in the outermost teams of the initial thread (threadprivate data relies on it).
void same_from_region_to_region()
{
  std::vector<std::thread::id> first(6), second(6);
#pragma omp parallel num_threads(6)
  first[static_cast<std::size_t>(omp_get_thread_num())] = std::this_thread::get_id();
#pragma omp parallel num_threads(6)
  second[static_cast<std::size_t>(omp_get_thread_num())] = std::this_thread::get_id();
  CHECK(first == second);
}

// What collectors of garbage, sanitizers and language runtimes ask for.
void stack_bounds(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    pthread_attr_t attributes;
    void *lowest = nullptr;
    std::size_t size = 0;
    CHECK_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
    CHECK_EQ(pthread_attr_getstack(&attributes, &lowest, &size), 0);
    pthread_attr_destroy(&attributes);
    const char *here = static_cast<char *>(__builtin_frame_address(0));
    CHECK(here >= static_cast<char *>(lowest) && here < static_cast<char *>(lowest) + size);
  }
}

// The kernel's number is that of the OS thread which runs the member now: one of this process, and not constant.
void kernel_thread(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    const long number = syscall(SYS_gettid);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld", number);
    CHECK_EQ(access(path, F_OK), 0);
  }
}

pthread_key_t key;
int destroyed = 0;
void destroy(void *) { __atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED); }

void keys(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int outer = 0, inner[3];
    void *const found = pthread_getspecific(key);  // an enclosing member's, or what an earlier region has left
    CHECK_EQ(pthread_setspecific(key, &outer), 0);
#pragma omp barrier
    CHECK_PTR(pthread_getspecific(key), &outer);
#pragma omp parallel num_threads(3)
    {
      const int me = omp_get_thread_num();
      void *const before = pthread_getspecific(key);
      if (me == 0) CHECK_PTR(before, &outer);
      CHECK_EQ(pthread_setspecific(key, &inner[me]), 0);
#pragma omp barrier
      CHECK_PTR(pthread_getspecific(key), &inner[me]);
      CHECK_EQ(pthread_setspecific(key, me == 0 ? before : nullptr), 0);
    }
    CHECK_PTR(pthread_getspecific(key), &outer);
    CHECK_EQ(pthread_setspecific(key, found), 0);
  }
}

// Members do not end with their region, so destructors run for threads of the program alone.
void key_destructors()
{
  destroyed = 0;
  std::thread([] {
    pthread_setspecific(key, &destroyed);
#pragma omp parallel num_threads(3)
    if (omp_get_thread_num() == 0) CHECK_PTR(pthread_getspecific(key), &destroyed);
  }).join();
  CHECK_EQ(destroyed, 1);
}

void once(int threads)
{
  std::once_flag flag;
  pthread_once_t control = PTHREAD_ONCE_INIT;
  static thread_local int *seen;
  static int initialised;
  initialised = 0;
  int calls = 0, done = 0;
#pragma omp parallel num_threads(threads)
  {
    seen = &initialised;
    std::call_once(flag, [&] {
      usleep(200);  // the others wait in the kernel meanwhile
      calls++;
#pragma omp parallel num_threads(2)
      {
#pragma omp barrier
#pragma omp atomic
        done++;
      }
    });
    CHECK_EQ(done, 2);
    pthread_once(&control, [] { ++*seen; });
  }
  CHECK_EQ(calls, 1);
  CHECK(initialised >= 1);
}

}  // namespace

int main()
{
  pthread_key_create(&key, destroy);
  everywhere(kept_and_distinct, stack_bounds, kernel_thread, keys);
  same_from_region_to_region();
  key_destructors();
  once(4);
  once(16);
  return check_result();
}
