// SPDX-License-Identifier: Apache-2.0
#include "interpose/run.h"

#include "base/message.h"
#include "base/options.h"
#include "core/api/fork.h"
#include "interpose/copy.h"
#include "interpose/cost_model.h"
#include "interpose/fork.h"
#include "interpose/gang.h"
#include "interpose/own_limits.h"
#include "interpose/product_locks.h"
#include "interpose/refusal.h"
#include "interpose/statistics.h"
#include "interpose/thread_share.h"
#include "interpose/wait_loops.h"
#include "openmp/ompt/library.h"
#include "openmp/record/team.h"
#include "openmp/settings/startup.h"
#include "platform/cycles.h"

namespace weft::interpose {

namespace {

// Starts the pool, and sees to it that the runtime notices the end of this thread.
void attach() noexcept {
  openmp::self();
  openmp::start_runtime();
}

// Makes a gang for the caller's jobs, and takes numbers for them; null when that is not possible.
Gang* prepare(Copy* copy, Job job, int count, SeenWaits waits) noexcept {
  if (count > copy->numbers.most() - copy->first_number()) return nullptr;
  Gang* gang = take_gang();
  if (gang == nullptr) return nullptr;
  if (count > core::slots()) keep_to_share(copy);
  gang->copy = copy;
  gang->job = job;
  gang->count = count;
  gang->extra = 0;
  gang->list = nullptr;
  gang->tool = 0;
  gang->in_sequence = false;
  const bool one_thing = waits == kArraysSeen && count == 1;  // of a list, even one job runs beside the caller
  gang->by_turns = copy->sees(waits) && !one_thing && base::options().reproducible != base::TriState::no;
  if (!copy->whole) begin_call();
  copy->numbers.take(copy->first_number(), count, gang->numbers.data());
  return gang;
}

// Whether the thread's carrier is in no table: no carrier would find its jobs. Where they wait, the monitor helps.
bool is_hidden() noexcept {
  core::attach();
  return core::carrier_number() < 0;
}

// What has become of a call whose jobs stand in an array.
struct Outcome {
  bool possible = true;  // false: nothing has been done, since the system refuses the threads
  bool helped = false;   // whether others ran jobs of a caller that was to run all of them by itself
};

Outcome run_divided(Gang* gang, bool on_trial) noexcept {
  Outcome outcome;
  if (gang->count > 1 && is_hidden() && begin_sequence(gang)) return {.helped = gang->sequence.run()};
  gang->in_sequence = on_trial;
  if (gang->count > 1 && !start(gang, gang->count - 1)) return {.possible = false};
  if (gang->in_sequence) {
    outcome.helped = gang->sequence.run();
  } else {
    run_of_array(gang, 0);
  }
  if (gang->count > 1) finish(gang);
  return outcome;
}

// To be called where jobs of this copy have waited in a way that weft does not see: it took a second to find out. From
// now on its calls are gangs.
void distrust(Copy* copy, SeenWaits waits) noexcept {
  if ((copy->waits.fetch_and(~waits, std::memory_order_relaxed) & waits) == 0) return;
  if (base::options().reproducible == base::TriState::unset) {
    base::warn(
        "jobs of %s wait in a way that weft does not know; from now on the load decides how its calls are split, and "
        "rounding may differ: see WEFT_REPRODUCIBLE",
        copy->path != nullptr ? copy->path : "OpenBLAS");
  }
  keep_to_share(copy);
}

// Runs the jobs by turns: the caller does, and, if the call is divided, carriers that come.
Outcome run_by_turns(Gang* gang, bool divided) noexcept {
  begin_sequence(gang);
  gang->offered = false;
  if (divided) offer(gang);
  Outcome outcome{.helped = gang->sequence.run_own()};
  await_carriers(gang);
  gang->sequence.await_others();
  if (gang->sequence.misjudged()) distrust(gang->copy, kArraysSeen);
  gang->offered ? count_gang(gang->count, 0) : count_alone();
  return outcome;
}

Outcome run_as(Way way, Gang* gang) noexcept {
  if (gang->by_turns) return run_by_turns(gang, way == Way::divided);
  if (way != Way::alone || !begin_sequence(gang)) return run_divided(gang, way == Way::trial);
  count_alone();
  return {.helped = gang->sequence.run()};
}

Grain* grain_of(const Gang& gang) noexcept {
  if (gang.count == 1 || gang.size < sizeof(QueuedJob)) return nullptr;
  const auto* first = reinterpret_cast<const QueuedJob*>(gang.data);
  const Operands* operands = first->operands;
  return operands != nullptr ? Grain::of(first->routine, gang.count, operands->rows, operands->columns) : nullptr;
}

Outcome run_array(Gang* gang) noexcept {
  Grain* grain = grain_of(*gang);
  // What a limit of the calling task makes of a call says nothing of those of others.
  if (grain == nullptr || own_limit(gang->copy) < gang->count) return run_as(Way::divided, gang);
  const Grain::Plan plan = grain->plan();
  const int64_t began = plan.timed ? platform::now_ns() : 0;
  const Outcome outcome = run_as(plan.way, gang);
  if (gang->by_turns) {
    // By turns jobs cannot be stuck, so `helped` is no sign of that. A division to which no carrier came says nothing
    // of the time of a division.
    const bool says_something = plan.way != Way::divided || outcome.helped;
    if (plan.timed && says_something) grain->ran(plan, platform::now_ns() - began, false);
  } else if ((plan.timed || outcome.helped) && outcome.possible) {
    grain->ran(plan, platform::now_ns() - began, outcome.helped);
  }
  return outcome;
}

void dismiss(Gang* gang) noexcept {
  gang->copy->numbers.put(gang->count, gang->numbers.data());
  if (!gang->copy->whole) end_call();
  put_gang(gang);
}

// From now on the copy runs its jobs without weft, these ones too. Other calls may still run by weft: their jobs have
// numbers of their own.
void give_back(Job job, int count, void* data) noexcept {
  const Copy* copy = copy_at(reinterpret_cast<const void*>(job));
  if (copy == nullptr)
    base::fatal("jobs of a library that is no OpenBLAS of 0.3.29 or later, or more than 32 copies of it");
  if (copy->whole) refuse();
  __atomic_store_n(copy->library.run, nullptr, __ATOMIC_RELAXED);
  copy->library.run_itself(count, data);
}

// Where learn_job() wants to be told the library's function that runs a job. It is not exported; a call of one job
// shows it.
thread_local Job* t_wanted = nullptr;

Job learn_job(Copy* copy) noexcept {
  Job job = copy->job.load(std::memory_order_relaxed);
  if (job != nullptr) return job;
  constexpr size_t kLargerThanAJob = 1024;
  alignas(64) unsigned char nothing[kLargerThanAJob] = {};
  t_wanted = &job;
  Run before = __atomic_exchange_n(copy->library.run, &run, __ATOMIC_ACQ_REL);
  copy->library.run_itself(1, nothing);
  Run ours = &run;
  __atomic_compare_exchange_n(copy->library.run, &ours, before, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  copy->job.store(job, std::memory_order_relaxed);
  return job;
}

}  // namespace

void run(int, Job job, int count, size_t size, void* data, int extra) noexcept {
  if (t_wanted != nullptr) {
    *t_wanted = job;
    t_wanted = nullptr;
    return;
  }
  attach();
  Copy* copy = base::options().adopt_libraries ? copy_of(job) : nullptr;
  Gang* gang = copy != nullptr ? prepare(copy, job, count, kArraysSeen) : nullptr;
  if (gang == nullptr) {
    give_back(job, count, data);
    return;
  }
  gang->data = static_cast<char*>(data);
  gang->size = size;
  gang->extra = extra;
  const bool had_lock = release_product_lock();
  bool possible = false;
  {
    const openmp::ompt::InLibrary in_library(WEFT_CALLER, count, &gang->tool);
    possible = run_array(gang).possible;
  }
  dismiss(gang);
  if (possible) return;
  if (had_lock) retake_product_lock();
  give_back(job, count, data);
}

void begin(Copy* copy, long position, QueuedJob* jobs) noexcept {
  int count = 0;
  for (QueuedJob* job = jobs; job != nullptr; job = job->next) {
    job->position = position++;
    ++count;
  }
  if (count == 0) return;
  attach();
  const Job job = learn_job(copy);
  Gang* gang = prepare(copy, job, count, kListsSeen);
  if (gang == nullptr) refuse();
  gang->list = jobs;
  jobs->assigned = gang;
  if (!gang->by_turns) {
    gang->in_sequence = is_hidden() && begin_sequence(gang);
    if (!gang->in_sequence && !start(gang, count)) refuse();
    return;
  }
  begin_sequence(gang);
  offer(gang);
  gang->sequence.run_where_caller_waits();
}

void await(QueuedJob* jobs) noexcept {
  if (jobs == nullptr) return;
  auto* gang = static_cast<Gang*>(jobs->assigned);
  if (gang->by_turns) {
    gang->sequence.run();
    await_carriers(gang);
    if (gang->sequence.misjudged()) distrust(gang->copy, kListsSeen);
    count_gang(gang->count, 0);
  } else if (gang->in_sequence) {
    gang->sequence.run();
  } else {
    finish(gang);
  }
  dismiss(gang);
}

}  // namespace weft::interpose
