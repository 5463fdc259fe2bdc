// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/helper/helper.h"

#include <csignal>
#include <new>

#include <pthread.h>

#include "mpi/library/diagnostics/in_place.h"
#include "mpi/library/diagnostics/trace.h"
#include "mpi/library/helper/nap.h"
#include "mpi/library/inside.h"
#include "platform/cycles.h"

namespace weft::mpi {

namespace {

// A thread that makes calls. The idle ones wait for the next: there are as many as calls ever were in MPI at once.
struct Helper {
  Helper* next = nullptr;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
  Job* first = nullptr;  // being made, or about to be; behind it others of its order
};

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
Helper* g_helpers = nullptr;

class Locked {
 public:
  Locked() noexcept { pthread_mutex_lock(&g_lock); }
  ~Locked() { pthread_mutex_unlock(&g_lock); }
};

int make(Job& job) noexcept {
  const Inside inside;
  return job.call(job);
}

Job& next_job(Helper& helper) noexcept {
  const Locked lock;
  while (helper.first == nullptr) pthread_cond_wait(&helper.wake, &g_lock);
  return *helper.first;
}

void* serve(void* argument) noexcept {
  auto& helper = *static_cast<Helper*>(argument);
  for (;;) {
    Job& job = next_job(helper);
    {
      const Napping napping;
      job.code = make(job);
    }
    {
      const Locked lock;
      helper.first = job.next;
    }
    job.runtime->unblock(job.context);  // the job is the task's again
  }
  return nullptr;
}

Helper* start_helper(Job& job) noexcept {
  auto* helper = new (std::nothrow) Helper;
  if (helper == nullptr) return nullptr;
  helper->first = &job;
  // Signals of the process are for the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, serve, helper);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    delete helper;
    return nullptr;
  }
  pthread_detach(thread);
  return helper;
}

// Gives the job to a helper. The caller holds the lock. Returns false if there is no helper and none can be made.
bool hand_over(Job& job) noexcept {
  Helper* idle = nullptr;
  for (Helper* helper = g_helpers; helper != nullptr; helper = helper->next) {
    if (helper->first == nullptr) {
      idle = helper;
    } else if (job.order != 0 && helper->first->order == job.order) {
      Job* last = helper->first;
      while (last->next != nullptr) last = last->next;
      last->next = &job;
      return true;
    }
  }
  if (idle != nullptr) {
    idle->first = &job;
    pthread_cond_signal(&idle->wake);
    return true;
  }
  Helper* helper = start_helper(job);
  if (helper == nullptr) return false;
  helper->next = g_helpers;
  g_helpers = helper;
  return true;
}

}  // namespace

int call_on_helper(const Runtime& runtime, Job& job) noexcept {
  const TracedIfWanted traced(*job.described);
  if (!in_parallel(runtime)) {
    const WaitInPlace wait(*job.described);
    return make(job);
  }
  job.runtime = &runtime;
  job.context = runtime.context();
  job.began = platform::now_ns();
  weft_blocking_context* context = job.context;
  bool handed_over;
  {
    const Locked lock;
    handed_over = hand_over(job);
  }
  if (!handed_over) {
    // A pause that is over before it begins: the context must not stay unused.
    job.code = make(job);
    runtime.unblock(context);
  }
  runtime.block(context);
  return job.code;
}

void visit_jobs(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept {
  const Locked lock;
  for (const Helper* helper = g_helpers; helper != nullptr; helper = helper->next) {
    for (const Job* job = helper->first; job != nullptr; job = job->next) visit(*job->described, job->began, argument);
  }
}

}  // namespace weft::mpi
