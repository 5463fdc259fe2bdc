// SPDX-License-Identifier: Apache-2.0
#include "adopt/run.h"

#include <atomic>
#include <new>

#include <dlfcn.h>
#include <sched.h>

#include "adopt/copy.h"
#include "adopt/fork.h"
#include "adopt/grain.h"
#include "adopt/sequence.h"
#include "adopt/shares.h"
#include "adopt/statistics.h"
#include "adopt/turns.h"
#include "base/message.h"
#include "base/options.h"
#include "core/gang.h"
#include "core/scheduler.h"
#include "openmp/startup.h"
#include "openmp/team.h"
#include "platform/cycles.h"

namespace weft::adopt {

namespace {

// The jobs of a call. Records are never given back to the system: see core/bundle.h.
struct Gang : core::Bundle {
  Copy* copy = nullptr;
  Job job = nullptr;
  int count = 0;  // of its jobs
  int lent = 0;   // OS threads
  int extra = 0;
  // Either an array, whose first job its creator runs, or a list, beside which its creator runs.
  char* data = nullptr;
  size_t size = 0;
  QueuedJob* list = nullptr;
  std::array<uint16_t, Numbers::kMost> numbers;
  bool in_sequence = false;  // its jobs are run in sequence, unless helpers find the caller stuck
  Sequence sequence;
  Gang* next_free = nullptr;
};

core::Spinlock g_lock;
Gang* g_free = nullptr;

Gang* take_gang() noexcept {
  g_lock.lock();
  Gang* gang = g_free;
  if (gang != nullptr) g_free = gang->next_free;
  g_lock.unlock();
  return gang != nullptr ? gang : new (std::nothrow) Gang;
}

void put_gang(Gang* gang) noexcept {
  g_lock.lock();
  gang->next_free = g_free;
  g_free = gang;
  g_lock.unlock();
}

// Carriers that run jobs, beside the callers. Relaxed: a guess.
std::atomic<int> g_helpers{0};

void run_of_array(const Gang* gang, int index) noexcept {
  const auto i = static_cast<size_t>(index);
  gang->job(gang->numbers[i], gang->data + i * gang->size, gang->extra);
}

void run_of_list(const Gang* gang, int index) noexcept {
  QueuedJob* queued = gang->list;
  for (int i = 0; i < index; ++i) queued = queued->next;
  gang->job(gang->numbers[static_cast<size_t>(index)], queued, gang->extra);
}

void help(core::Bundle* bundle, int index) {
  core::begin_gang_calls(1);
  g_helpers.fetch_add(1, std::memory_order_relaxed);
  auto* gang = static_cast<Gang*>(bundle);
  if (gang->in_sequence) {
    gang->sequence.help_if_stuck();
  } else if (gang->list != nullptr) {
    run_of_list(gang, index - 1);
  } else {
    run_of_array(gang, index);
  }
  g_helpers.fetch_sub(1, std::memory_order_relaxed);
}

// Those that are about to finish something have this long, before OS threads are lent in their place.
constexpr int64_t kTimeToComeNs = 50'000;
// Gangs of others have this long to end: many calls are as short, and a long one must not hold up everybody.
constexpr int64_t kTimeToEndNs = 2'000'000;

// The gang's calls have been announced, `missing` carriers for them were not to be had; returns how many still are.
int await_carriers(int missing, int calls) noexcept {
  const int64_t deadline = platform::now_ns() + kTimeToComeNs;
  while (missing > 0 && platform::now_ns() < deadline) {
    for (int i = 0; i < 32; ++i) platform::pause();
    core::begin_gang_calls(calls);
    missing = core::announce_gang(calls);
  }
  return missing;
}

int await_turns(const core::Context* context, int missing, int calls) noexcept {
  const int64_t deadline = platform::now_ns() + kTimeToEndNs;
  while (missing > 0 && others_have_turns()) {
    const int64_t left = deadline - platform::now_ns();
    if (left <= 0) break;
    const uint32_t seen = turns_ended();
    core::begin_gang_calls(calls);  // of no use to others while this one sleeps
    core::begin_sleep(context);
    await_turn(seen, left);
    core::end_sleep(context);
    missing = core::announce_gang(calls);
  }
  return missing;
}

bool begin_sequence(Gang* gang) noexcept {
  core::attach();
  const auto run_one = [](void* call, int index) { run_of_array(static_cast<const Gang*>(call), index); };
  return gang->sequence.begin(gang->count, run_one, gang);
}

// Makes `calls` jobs of the gang run beside the caller. False, and nothing has been done, when the system refuses the
// threads for that: they have to run all at the same time.
bool start(Gang* gang, int calls) noexcept {
  core::Context* context = core::attach();
  if (context->home != nullptr) core::enter_region(context, calls + 1);
  gang->lent = 0;
  int missing = core::announce_gang(calls);
  if (missing > 0) {
    if (!others_have_turns()) missing = await_carriers(missing, calls);
    if (missing > 0) lower_share(g_helpers.load(std::memory_order_relaxed));
    if (missing > 0) missing = await_turns(context, missing, calls);
    gang->lent = core::lend_threads(missing);
  }
  if (gang->lent < missing) {
    core::begin_gang_calls(calls);
    core::return_threads(gang->lent);
    if (context->home != nullptr) core::leave_region(context);
    return false;
  }
  begin_turn();
  count_gang(gang->count, gang->lent);
  gang->in_sequence = gang->in_sequence && begin_sequence(gang);
  gang->call = help;
  core::publish(gang, calls + 1);
  core::summon(gang, calls);
  return true;
}

// With OS threads beyond the CPUs, those that have jobs need the CPU on which the caller would look for their end.
void let_lent_run(const Gang* gang) noexcept {
  const int64_t deadline = platform::now_ns() + core::spin_ns();
  // Relaxed: join() sees what the jobs have done.
  while (gang->pending.load(std::memory_order_relaxed) > 0 && !gang->claimable()) {
    sched_yield();
    if (platform::now_ns() > deadline) return;
  }
}

void finish(Gang* gang) noexcept {
  if (gang->lent > 0) let_lent_run(gang);
  core::join(gang);
  end_turn();
  core::return_threads(gang->lent);
  core::Context* context = core::attach();
  if (context->home != nullptr) core::leave_region(context);
}

// The pool is there, and the thread is noticed when it ends.
void attach() noexcept {
  openmp::self();
  openmp::start_runtime();
}

// A gang for the caller, whose numbers are taken; null when there cannot be one.
Gang* prepare(Copy* copy, Job job, int count) noexcept {
  if (count > copy->numbers.most() - copy->first_number()) return nullptr;
  Gang* gang = take_gang();
  if (gang == nullptr) return nullptr;
  if (count > core::slots()) keep_to_share(copy);
  gang->copy = copy;
  gang->job = job;
  gang->count = count;
  gang->extra = 0;
  gang->list = nullptr;
  gang->in_sequence = false;
  if (!copy->whole) begin_call();
  copy->numbers.take(copy->first_number(), count, gang->numbers.data());
  return gang;
}

// What has become of a call whose jobs stand in an array.
struct Outcome {
  bool possible = true;  // else nothing has been done: the system refuses the threads
  bool helped = false;   // a caller that was to run them one after the other
};

Outcome run_divided(Gang* gang, bool on_trial) noexcept {
  Outcome outcome;
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

Outcome run_as(Way way, Gang* gang) noexcept {
  if (way != Way::alone || !begin_sequence(gang)) return run_divided(gang, way == Way::trial);
  count_alone();
  return {.helped = gang->sequence.run()};
}

Outcome run_array(Gang* gang) noexcept {
  const auto* first = reinterpret_cast<const QueuedJob*>(gang->data);
  Grain* grain = gang->count > 1 && gang->size >= sizeof(QueuedJob)
                     ? Grain::of(first->routine, gang->count, first->operands->rows, first->operands->columns)
                     : nullptr;
  if (grain == nullptr) return run_divided(gang, false);
  const Grain::Plan plan = grain->plan();
  const int64_t began = plan.timed ? platform::now_ns() : 0;
  const Outcome outcome = run_as(plan.way, gang);
  if ((plan.timed || outcome.helped) && outcome.possible) grain->ran(plan, platform::now_ns() - began, outcome.helped);
  return outcome;
}

void dismiss(Gang* gang) noexcept {
  gang->copy->numbers.put(gang->count, gang->numbers.data());
  if (!gang->copy->whole) end_call();
  put_gang(gang);
}

[[noreturn]] void refuse() noexcept {
  base::fatal(
      "the system refuses the threads that OpenBLAS needs to go on (see ulimit -u, -v); ask for fewer with "
      "OPENBLAS_NUM_THREADS");
}

// The copy runs its jobs without weft, from now on. Other calls may be under way: their jobs have numbers of their own.
void give_back(Job job, int count, void* data) noexcept {
  const Copy* copy = copy_at(reinterpret_cast<const void*>(job));
  if (copy == nullptr) base::fatal("jobs of a library that is no OpenBLAS, or more than 32 copies of it");
  if (copy->whole) refuse();
  __atomic_store_n(copy->library.run, nullptr, __ATOMIC_RELAXED);
  copy->library.run_itself(count, data);
}

// Its function that runs a job is not exported. A call of one job shows it.
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

void lock_gangs() noexcept { g_lock.lock(); }
void unlock_gangs() noexcept { g_lock.unlock(); }

void run(int, Job job, int count, size_t size, void* data, int extra) noexcept {
  if (t_wanted != nullptr) {
    *t_wanted = job;
    t_wanted = nullptr;
    return;
  }
  attach();
  Copy* copy = base::options().adopt_libraries ? copy_of(job) : nullptr;
  Gang* gang = copy != nullptr ? prepare(copy, job, count) : nullptr;
  if (gang == nullptr) {
    give_back(job, count, data);
    return;
  }
  gang->data = static_cast<char*>(data);
  gang->size = size;
  gang->extra = extra;
  const bool possible = run_array(gang).possible;
  dismiss(gang);
  if (!possible) give_back(job, count, data);
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
  Gang* gang = prepare(copy, job, count);
  if (gang == nullptr) refuse();
  gang->list = jobs;
  jobs->assigned = gang;
  if (!start(gang, count)) refuse();
}

void await(QueuedJob* jobs) noexcept {
  if (jobs == nullptr) return;
  auto* gang = static_cast<Gang*>(jobs->assigned);
  finish(gang);
  dismiss(gang);
}

}  // namespace weft::adopt
