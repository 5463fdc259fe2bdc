// SPDX-License-Identifier: Apache-2.0
// include/weft/task.h: pauses of tasks, polling services, events.
#include "weft/task.h"

#include <atomic>

#include "base/keep_errno.h"
#include "base/message.h"
#include "core/api/budget.h"
#include "core/api/records.h"
#include "core/api/wait.h"
#include "openmp/abi/abi.h"
#include "openmp/record/team.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task.h"
#include "openmp/task/task_pause.h"
#include "openmp/task/task_take.h"
#include "platform/cycles.h"

using namespace weft;
using namespace weft::openmp;

struct weft_blocking_context {
  std::atomic<core::Context*> context{nullptr};
  // Sequentially consistent: unblock() after it is seen by a block() before which it is not.
  std::atomic<bool> unblocked{false};
};

namespace {

// A pause takes this part of the time: stacks are left and entered, and the task is found again.
constexpr int64_t kPausesIn20Us = 40;

// A thread of control is in one pause at a time.
constinit thread_local weft_blocking_context t_blocking;

bool tasks_wait(const Team* team) noexcept {
  return team->tasks.tasked.load(std::memory_order_relaxed) && tasks_in_sight(team);
}

int register_service(core::PollingService service, void* data, core::PollingAnswer answer) noexcept {
  const base::KeepErrno keep;
  let_tasks_pause();
  return core::register_polling_service(service, data, answer);
}

Task* task_of(weft_event_counter* counter) noexcept { return reinterpret_cast<Task*>(counter); }

}  // namespace

WEFT_ABI(weft_blocking_context*, weft_get_current_blocking_context)() {
  const base::KeepErrno keep;
  // Relaxed: a thread that unblocks the task has the address from here, by a way of its own.
  t_blocking.context.store(member_to_pause()->context, std::memory_order_relaxed);
  t_blocking.unblocked.store(false, std::memory_order_relaxed);
  return &t_blocking;
}

WEFT_ABI(void, weft_block_current_task)(weft_blocking_context* context) {
  if (context->unblocked.load()) return;
  const base::KeepErrno keep;
  Member* member = self();
  const Absence absence(member);
  while (!context->unblocked.load()) block_between_tasks(member);
}

WEFT_ABI(void, weft_unblock_task)(weft_blocking_context* context) {
  // Read before: the pause may be over, and its thread gone, as soon as the flag is set.
  core::Context* paused = context->context.load(std::memory_order_relaxed);
  context->unblocked.store(true);
  core::note_arrival();
  core::unblock(paused);
}

WEFT_ABI(int, weft_spin_until)(int (*done)(void* argument), void* argument) {
  const base::KeepErrno keep;
  const Member* member = member_to_pause();
  int last = done(argument);
  if (last != 0) return last;
  // Others may run under the number of a task that has not asked for it. But it takes a while until they do: as long as
  // that, waiting costs no more.
  const bool keeps_number = member->task->uses_number;
  const int64_t began = platform::ticks();
  core::spin_until(member->context, [&] {
    last = done(argument);
    return last != 0 || (!keeps_number && platform::ticks() - began > platform::ticks_of_20_us() / kPausesIn20Us &&
                         tasks_wait(member->team));
  });
  return last;
}

WEFT_ABI(int, weft_is_in_parallel)() {
  const Member* member = current_member();
  if (member == nullptr) return 0;
  return member->team->root == nullptr || !member->task->implicit || tasks_wait(member->team) ? 1 : 0;
}

WEFT_ABI(int, weft_yield)() {
  const base::KeepErrno keep;
  return yield_task(member_to_pause()) ? 1 : 0;
}

WEFT_ABI(int, weft_register_polling_service)(const char* /*name*/, weft_polling_service service, void* data) {
  return register_service(service, data, core::PollingAnswer::left);
}

WEFT_ABI(int, weft_unregister_polling_service)(weft_polling_service service, void* data) {
  const base::KeepErrno keep;
  return core::unregister_polling_service(service, data);
}

// The two of nanos6.h that its header cannot put in terms of weft's.
WEFT_ABI(void, nanos_register_polling_service)(const char* name, weft_polling_service service, void* data) {
  if (register_service(service, data, core::PollingAnswer::done) != 0) {
    base::warn("nanos_register_polling_service: there are too many services, \"%s\" is not called",
               name != nullptr ? name : "");
  }
}

WEFT_ABI(void, nanos_unregister_polling_service)(const char* /*name*/, weft_polling_service service, void* data) {
  const base::KeepErrno keep;
  core::unregister_polling_service(service, data);
}

WEFT_ABI(void, weft_poll_soon)() { core::poll_soon(); }

WEFT_ABI(int, weft_busy_threads)() { return core::carriers_at_work(); }

// A counter is the task that it belongs to.
WEFT_ABI(weft_event_counter*, weft_get_current_event_counter)() {
  const Member* member = current_member();
  if (member == nullptr || member->task == nullptr || member->task->implicit) return nullptr;
  return reinterpret_cast<weft_event_counter*>(member->task);
}

WEFT_ABI(void, weft_increase_current_task_event_counter)(weft_event_counter* counter, unsigned events) {
  const base::KeepErrno keep;
  expect_events(self(), task_of(counter), static_cast<int>(events));
}

WEFT_ABI(void, weft_decrease_task_event_counter)(weft_event_counter* counter, unsigned events) {
  const base::KeepErrno keep;
  events_come(task_of(counter), static_cast<int>(events));
}
