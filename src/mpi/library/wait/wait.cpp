// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/wait/wait.h"

#include <cstdlib>

#include <sched.h>

#include "mpi/library/diagnostics/in_place.h"
#include "mpi/library/diagnostics/trace.h"
#include "mpi/library/pending/claims.h"
#include "mpi/library/pending/pending_wait.h"

namespace weft::mpi {

namespace {

// What a call waits for is one of three: a request, all of several requests, or an attempt. Each has test(): whether it
// is complete, or has failed.

// One request. An error of a request that the program has made goes to the handler that MPI finds for it, as in
// MPI_Wait.
struct One {
  MPI_Request& request;
  MPI_Status* status;
  int code = MPI_SUCCESS;

  bool test() noexcept {
    int done = 0;
    const Completing completing;
    code = completing.code(PMPI_Test(&request, &done, status));
    return done != 0 || code != MPI_SUCCESS;
  }
};

struct All {
  int count;
  MPI_Request* requests;
  MPI_Status* statuses;
  int code = MPI_SUCCESS;

#ifdef OPEN_MPI
  bool test() noexcept {
    int done = 0;
    const Completing completing;
    code = completing.code(PMPI_Testall(count, requests, &done, statuses));
    return done != 0 || code != MPI_SUCCESS;
  }
#else
  // The first `complete` requests are known to be complete, or inactive.
  int complete = 0;

  // MPICH's MPI_Testall fails when some of several partitioned requests are complete (seen with 4.0.2 and 5.0.2).
  // Its MPI_Waitall does not.
  bool test() noexcept {
    const Completing completing;
    for (; complete < count; ++complete) {
      int done = 0;
      if (PMPI_Request_get_status(requests[complete], &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0)
        return false;
    }
    code = completing.code(PMPI_Waitall(count, requests, statuses));
    return true;
  }
#endif
};

struct Attempt {
  bool (*attempt)(void*);
  void* argument;

  bool test() noexcept {
    const Testing testing;
    return attempt(argument);
  }
};

// The runtime calls this while a thread waits in place. Several threads may wait so; one of them at a time tests.
template <class Waited>
int look(void* waited) noexcept {
  if (!g_progress.try_lock()) return 0;
  const bool done = static_cast<Waited*>(waited)->test();
  g_progress.unlock();
  return done ? 1 : 0;
}

// For a caller outside of parallel regions: its CPU has nothing better to do, so it tests until the message is there,
// as MPI itself does. Most messages come within a few tests. After those it yields, since other ranks may want the CPU.
template <class Waited>
bool look_until_done(const Runtime& runtime, Waited& waited, const Call& call) noexcept {
  constexpr int kLooksBeforeYield = 64;
  for (int looks = 1; looks < kLooksBeforeYield; ++looks) {
    if (waited.test()) return true;
  }
  const WaitInPlace wait(call);
  while (!waited.test()) {
    runtime.yield();
    sched_yield();
  }
  return true;
}

template <class Waited>
bool done_in_place(const Runtime& runtime, Waited& waited, const Call& call) noexcept {
  if (waited.test()) return true;
  if (!in_parallel(runtime)) return look_until_done(runtime, waited, call);
  return runtime.spin_until(look<Waited>, &waited) != 0;
}

int report(const Origin& origin, int code) noexcept { return code == MPI_SUCCESS ? code : raise(origin, code); }

int wait_for_one(const Runtime& runtime, MPI_Request& request, MPI_Status* status, const Origin& origin,
                 const Call& call, bool programs) noexcept {
  One one{request, status};
  if (done_in_place(runtime, one, call)) return report(origin, one.code);
  if (programs && !claim(1, &request, nullptr)) return refuse_second_wait();
  // MPI_Wait does not write the status's field MPI_ERROR.
  MPI_Status completed;
  completed.MPI_ERROR = MPI_SUCCESS;
  PendingWait pending{.requests = &request, .statuses = &completed, .count = 1, .claimed = programs, .call = &call};
  pause_for(runtime, pending);
  if (status != MPI_STATUS_IGNORE) {
    completed.MPI_ERROR = status->MPI_ERROR;
    *status = completed;
  }
  return report(origin, pending.code);
}

// The trace needs the status, even where the program passes MPI_STATUS_IGNORE.
[[gnu::cold, gnu::noinline]] int wait_traced(const Runtime& runtime, MPI_Request& request, MPI_Status* status,
                                             const Origin& origin, const Call& call, bool programs) noexcept {
  TracedWait traced(call);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int code = wait_for_one(runtime, request, status, origin, call, programs);
  if (code == MPI_SUCCESS) traced.came(*status);
  return code;
}

int wait_for_request(const Runtime& runtime, MPI_Request& request, MPI_Status* status, const Origin& origin,
                     const Call& call, bool programs) noexcept {
  if (__builtin_expect(traces(), 0)) return wait_traced(runtime, request, status, origin, call, programs);
  return wait_for_one(runtime, request, status, origin, call, programs);
}

}  // namespace

int wait_for(const Runtime& runtime, MPI_Request& request, MPI_Status* status, const Origin& origin,
             const Call& call) noexcept {
  return wait_for_request(runtime, request, status, origin, call, false);
}

int wait_for_programs(const Runtime& runtime, MPI_Request& request, MPI_Status* status, const Call& call) noexcept {
  if (is_waited_for(1, &request)) return refuse_second_wait();
  return wait_for_request(runtime, request, status, Origin{}, call, true);
}

int split_active(int count, MPI_Request* requests, MPI_Status* statuses, int* active, int& code) noexcept {
  int actives = 0;
  const Completing several(Completing::Requests::several);
  for (int i = 0; i < count; ++i) {
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    One one{requests[i], status};
    if (!one.test()) {
      active[actives++] = i;
      continue;
    }
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = one.code;
    if (one.code != MPI_SUCCESS) code = one.code;
  }
  return actives;
}

int wait_for_all(const Runtime& runtime, int count, MPI_Request* requests, MPI_Status* statuses,
                 const Call& call) noexcept {
  if (is_waited_for(count, requests)) return refuse_second_wait();
  const Origin origin{};
  const TracedIfWanted traced(call);
  All all{count, requests, statuses};
  if (done_in_place(runtime, all, call)) return report(origin, all.code);
  constexpr int kFew = 32;
  int few[kFew];
  int* active = count <= kFew ? few : static_cast<int*>(std::malloc(sizeof(int) * static_cast<size_t>(count)));
  if (active == nullptr) {
    // Without memory for the list, the requests are tested all together, again and again, as an attempt. That takes
    // some time from whatever else is pending.
    wait_until(runtime, [](void* argument) { return static_cast<All*>(argument)->test(); }, &all, call);
    return report(origin, all.code);
  }
  int code = MPI_SUCCESS;
  const int actives = split_active(count, requests, statuses, active, code);
  if (actives > 0 && !claim(actives, requests, active)) {
    if (active != few) std::free(active);
    return refuse_second_wait();
  }
  if (actives > 0) {
    PendingWait pending{
        .requests = requests, .statuses = statuses, .wanted = active, .count = actives, .claimed = true, .call = &call};
    pause_for(runtime, pending);
    if (pending.code != MPI_SUCCESS) code = pending.code;
  }
  if (active != few) std::free(active);
  return code == MPI_SUCCESS ? code : report(origin, MPI_ERR_IN_STATUS);
}

void wait_until(const Runtime& runtime, bool (*attempt)(void* argument), void* argument, const Call& call) noexcept {
  const TracedIfWanted traced(call);
  Attempt waited{attempt, argument};
  if (done_in_place(runtime, waited, call)) return;
  struct Attempting : PendingWait {
    Attempt* waited;
  } pending;
  pending.waited = &waited;
  pending.call = &call;
  pending.attempt = [](PendingWait& of) { return static_cast<Attempting&>(of).waited->test(); };
  pause_for(runtime, pending);
}

}  // namespace weft::mpi
