// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/tampi/detach.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/message.h"
#include "mpi/library/pending/claims.h"
#include "mpi/library/pending/pending_wait.h"
#include "mpi/library/wait/wait.h"

namespace weft::mpi {

namespace {

// A pending wait that no task pauses for. It is allocated; behind it lie copies of the requests, and the places of
// those that are active.
struct Detached : PendingWait {
  Event event;
  Call what;

  static Detached* make(int count) noexcept {
    const size_t behind = (sizeof(MPI_Request) + sizeof(int)) * static_cast<size_t>(count);
    void* room = std::malloc(sizeof(Detached) + behind);
    return room != nullptr ? new (room) Detached{} : nullptr;
  }
  MPI_Request* room_for_requests() noexcept { return reinterpret_cast<MPI_Request*>(this + 1); }
  int* room_for_places(int count) noexcept { return reinterpret_cast<int*>(room_for_requests() + count); }
};

// Describes the wait, for messages: the task itself does not wait, but its events do.
Call call_for(const int& count, const void* caller) noexcept {
  return {[](const void* requests, Description& into) noexcept {
            into.name = "events of a task";
            into.requests = *static_cast<const int*>(requests);
          },
          &count, caller};
}

void end(PendingWait& pending) noexcept {
  auto* detached = static_cast<Detached*>(&pending);
  const Event event = detached->event;
  const Runtime& runtime = *detached->runtime;
  if (detached->code != MPI_SUCCESS) raise(Origin{}, detached->code);
  std::free(detached);
  event.come(runtime, event.argument);
}

}  // namespace

int detach(const Runtime& runtime, int count, MPI_Request* requests, MPI_Status* statuses, Event event,
           const void* caller) noexcept {
  if (is_waited_for(count, requests)) {
    event.come(runtime, event.argument);
    return refuse_second_wait();
  }
  Detached* detached = Detached::make(count);
  if (detached == nullptr) {
    const int code = wait_for_all(runtime, count, requests, statuses, call_for(count, caller));
    event.come(runtime, event.argument);
    return code;
  }
  int* active = detached->room_for_places(count);
  int code = MPI_SUCCESS;
  const int actives = split_active(count, requests, statuses, active, code);
  if (code != MPI_SUCCESS) raise(Origin{}, code);
  if (actives == 0) {
    std::free(detached);
    event.come(runtime, event.argument);
    return code;
  }
  if (!claim(actives, requests, active)) {
    std::free(detached);
    event.come(runtime, event.argument);
    return refuse_second_wait();
  }
  detached->claimed = true;
  detached->requests = detached->room_for_requests();
  for (int i = 0; i < count; ++i) {
    detached->requests[i] = requests[i];
    requests[i] = MPI_REQUEST_NULL;
  }
  detached->statuses = statuses;
  detached->wanted = active;
  detached->count = actives;
  detached->runtime = &runtime;
  detached->event = event;
  detached->ended = end;
  detached->what = call_for(detached->count, caller);
  detached->call = &detached->what;
  submit(runtime, *detached);
  return code;
}

int detach_from_task(const Runtime& runtime, int count, MPI_Request* requests, MPI_Status* statuses,
                     const void* caller) noexcept {
  weft_event_counter* counter = runtime.event_counter();
  if (counter == nullptr) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true)) base::warn("mpi: TAMPI_Iwait or the like is called outside of explicit tasks; it waits");
    return wait_for_all(runtime, count, requests, statuses, call_for(count, caller));
  }
  runtime.increase(counter, 1);
  const auto come = [](const Runtime& of, void* argument) {
    of.decrease(static_cast<weft_event_counter*>(argument), 1);
  };
  return detach(runtime, count, requests, statuses, {come, counter}, caller);
}

}  // namespace weft::mpi
