// SPDX-License-Identifier: Apache-2.0
// The tool behind `weft trace`: what OMPT tells becomes records; at the end of the program they become a file.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "base/options.h"
#include "platform/cycles.h"
#include "platform/futex_lock.h"
#include "profile/others.h"
#include "trace/so_far.h"
#include "trace/writer.h"
#include "weft/omp-tools.h"
#include "weft/weft-tools.h"

namespace weft::trace {

namespace {

struct Region {
  uint64_t id;
  uint16_t level;
  const void* caller;
};

struct Task {
  uint64_t id;
  uint64_t team;  // of who has made it; 0: none
  const void* caller;
};

std::atomic<Log*> g_logs{nullptr};
std::atomic<int> g_log_count{0};
std::atomic<uint64_t> g_regions{0};
std::atomic<uint64_t> g_tasks{0};
platform::FutexLock g_lock;  // of what follows
Process g_traced;
pid_t g_process = 0;
std::string g_path;
std::string g_path_so_far;  // until it is whole
std::optional<profile::Others> g_others;
weft_get_carrier_t g_carrier = nullptr;
ompt_get_parallel_info_t g_parallel_info = nullptr;

thread_local Log* t_log = nullptr;
thread_local int t_open = 0;  // things begun and not ended
thread_local uint16_t t_level = 0;

int64_t now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

Record record(What what) noexcept {
  Record made;
  made.time = now();
  made.what = what;
  made.carrier = g_carrier();
  made.level = t_level;
  return made;
}

void begin(const Record& record) noexcept {
  if (t_log == nullptr) return;
  ++t_open;
  t_log->append(record);
}

void end() noexcept {
  if (t_log == nullptr || t_open == 0) return;
  --t_open;
  t_log->append(record(What::end));
}

void begin_or_end(ompt_scope_endpoint_t endpoint, What what, int kind, const void* caller) noexcept {
  if (endpoint == ompt_scope_end) return end();
  Record made = record(what);
  made.kind = static_cast<uint8_t>(kind);
  made.caller = caller;
  begin(made);
}

void on_thread_begin(ompt_thread_t kind, ompt_data_t*) {
  t_log = new (std::nothrow) Log;
  if (t_log == nullptr) return;
  if (kind == ompt_thread_initial) {
    t_log->thread = gettid();
    t_log->began = now();
  }
  t_log->number = g_log_count.fetch_add(1, std::memory_order_relaxed);
  // Release: a thread that finds the log finds it complete.
  t_log->next = g_logs.load(std::memory_order_relaxed);
  while (!g_logs.compare_exchange_weak(t_log->next, t_log, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

// The log stays, for the file.
void on_thread_end(ompt_data_t*) {
  // Relaxed: a time for a report, read when the program has ended.
  if (t_log != nullptr) t_log->ended.store(now(), std::memory_order_relaxed);
  t_log = nullptr;
  t_open = 0;
}

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel, unsigned requested, int,
                       const void* caller) {
  const uint64_t id = g_regions.fetch_add(1, std::memory_order_relaxed) + 1;
  parallel->ptr = new (std::nothrow) Region{id, static_cast<uint16_t>(t_level + 1), caller};
  if (t_log == nullptr) return;
  Record made = record(What::region);
  made.id = id;
  made.number = static_cast<int32_t>(requested);
  t_log->append(made);
}

void on_loop(ompt_data_t* parallel, const weft_loop_totals_t* totals) {
  const auto* region = static_cast<const Region*>(parallel->ptr);
  auto* kept = new (std::nothrow) weft_loop_totals_t(*totals);
  if (t_log == nullptr || region == nullptr || kept == nullptr) {
    delete kept;
    return;
  }
  Record made = record(What::loop);
  made.id = region->id;
  made.loop = kept;
  t_log->append(made);
}

void on_parallel_end(ompt_data_t* parallel, ompt_data_t*, int, const void*) {
  delete static_cast<Region*>(parallel->ptr);
}

// A member remembers in its task's data, plus 1, at which level its context was before; 0: it is not shown.
void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                      unsigned number, int flags) {
  if (endpoint == ompt_scope_end) {
    if (task->value == 0) return;
    t_level = static_cast<uint16_t>(task->value - 1);
    return end();
  }
  const auto* region = parallel != nullptr ? static_cast<const Region*>(parallel->ptr) : nullptr;
  // The initial task of a thread of the program's: what is outside of all regions is not shown.
  if (region == nullptr && (flags & ompt_task_initial) != 0) return;
  task->value = uint64_t{t_level} + 1;
  t_level = region != nullptr ? region->level : static_cast<uint16_t>(t_level + 1);
  Record made = record(What::member);
  made.number = static_cast<int32_t>(number);
  made.size = static_cast<int32_t>(size);
  if (region != nullptr) {
    made.id = region->id;
    made.caller = region->caller;
  }
  begin(made);
}

uint64_t team_of_caller() noexcept {
  ompt_data_t* parallel = nullptr;
  constexpr int kFound = 2;
  if (g_parallel_info(0, &parallel, nullptr) != kFound || parallel == nullptr) return 0;
  const auto* region = static_cast<const Region*>(parallel->ptr);
  return region != nullptr ? region->id : 0;
}

void on_task_create(ompt_data_t*, const ompt_frame_t*, ompt_data_t* task, int, int, const void* caller) {
  const uint64_t id = g_tasks.fetch_add(1, std::memory_order_relaxed) + 1;
  task->ptr = new (std::nothrow) Task{id, team_of_caller(), caller};
}

void on_task_schedule(ompt_data_t* prior, ompt_task_status_t status, ompt_data_t* next) {
  switch (status) {
    case ompt_task_yield:
    case ompt_task_switch: {
      Record made = record(What::task);
      if (const auto* task = static_cast<const Task*>(next->ptr)) {
        made.id = task->id;
        made.set_team(task->team);
        made.caller = task->caller;
      }
      return begin(made);
    }
    case ompt_task_detach: return end();
    case ompt_task_complete:
    case ompt_task_cancel: end(); break;
    case ompt_task_late_fulfill:
    case ompt_taskwait_complete: break;
    default: return;
  }
  delete static_cast<Task*>(prior->ptr);
}

void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*,
                         const void* caller) {
  begin_or_end(endpoint, What::wait, kind, caller);
}

void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, uint64_t count,
             const void* caller) {
  if (kind == ompt_work_single_other) return;
  if (endpoint == ompt_scope_end) return end();
  Record made = record(What::work);
  made.kind = static_cast<uint8_t>(kind);
  made.id = count;
  made.caller = caller;
  begin(made);
}

void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, const void* caller) {
  begin_or_end(endpoint, What::work, 0, caller);
}

bool waits(ompt_mutex_t kind) noexcept { return kind != ompt_mutex_test_lock && kind != ompt_mutex_test_nest_lock; }

void on_mutex_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t, const void* caller) {
  if (waits(kind)) begin_or_end(ompt_scope_begin, What::wait, kMutexWaits + kind, caller);
}

void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t, const void*) {
  if (waits(kind)) end();
}

void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t, const void*) {
  if (t_log == nullptr || (kind != ompt_mutex_critical && kind != ompt_mutex_ordered)) return;
  t_log->append(record(What::release));
}

// A nestable lock that its owner takes again.
void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t, const void*) {
  if (endpoint == ompt_scope_begin) end();
}

// Contexts that have nothing open come and go unseen.
void on_switch(weft_switch_t what, int carrier) {
  if (t_log == nullptr || t_open == 0) return;
  Record made;
  made.time = now();
  made.what = what == weft_switch_leave ? What::leave : What::resume;
  made.carrier = carrier;
  t_log->append(made);
}

// %p stands for the number of the process.
void replace_all(std::string& text, const char* what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, 2, by);
}

// As launchers say it before the program begins.
const char* rank_by_launcher() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(variable); rank != nullptr && *rank != '\0') return rank;
  }
  return "0";
}

std::string path_of(const char* wanted) {
  std::string path = wanted;
  replace_all(path, "%p", std::to_string(getpid()));
  replace_all(path, "%r", rank_by_launcher());
  return path;
}

// All that is known by now. Without memory for it there is none; the program goes on.
bool write_to(std::FILE* file, bool is_cut_off) noexcept {
  Process traced;
  {
    const std::lock_guard guard(g_lock);
    traced = g_traced;
  }
  traced.cpu = platform::cpu_time_ns();
  traced.others_cpu = g_others->used_of(traced.cpus * (now() - traced.began));
  try {
    return write(file, g_logs.load(std::memory_order_acquire), traced, now(), is_cut_off);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return false;
  }
}

// In place at once, so that there is a whole file whenever the program dies. What is no plain file is written once, at
// the end; so are traces for which more than some 200 MB of memory would be taken while the program needs it.
void write_so_far() noexcept {
  constexpr size_t kMostRecords = 2'000'000;
  size_t records = 0;
  for (const Log* log = g_logs.load(std::memory_order_acquire); log != nullptr; log = log->next)
    records += log->count();
  if (records > kMostRecords) return;
  struct stat old{};
  if (getpid() != g_process || (lstat(g_path.c_str(), &old) == 0 && !S_ISREG(old.st_mode))) return;
  std::FILE* file = std::fopen(g_path_so_far.c_str(), "we");
  if (file == nullptr) return;
  const bool written = write_to(file, true);
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed || std::rename(g_path_so_far.c_str(), g_path.c_str()) != 0) unlink(g_path_so_far.c_str());
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  g_carrier = reinterpret_cast<weft_get_carrier_t>(lookup("weft_get_carrier"));
  const auto watch = reinterpret_cast<weft_set_switch_callback_t>(lookup("weft_set_switch_callback"));
  const auto set = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  const auto watch_loops = reinterpret_cast<weft_set_loop_callback_t>(lookup("weft_set_loop_callback"));
  g_parallel_info = reinterpret_cast<ompt_get_parallel_info_t>(lookup("ompt_get_parallel_info"));
  const auto count_cpus = reinterpret_cast<ompt_get_num_procs_t>(lookup("ompt_get_num_procs"));
  if (g_carrier == nullptr || watch == nullptr || watch_loops == nullptr || set == nullptr ||
      g_parallel_info == nullptr || count_cpus == nullptr) {
    base::warn("the program runs on another OpenMP runtime than weft: no trace is written");
    return 0;
  }
  const struct {
    ompt_callbacks_t event;
    ompt_callback_t function;
  } callbacks[] = {
      {ompt_callback_thread_begin, reinterpret_cast<ompt_callback_t>(on_thread_begin)},
      {ompt_callback_thread_end, reinterpret_cast<ompt_callback_t>(on_thread_end)},
      {ompt_callback_parallel_begin, reinterpret_cast<ompt_callback_t>(on_parallel_begin)},
      {ompt_callback_parallel_end, reinterpret_cast<ompt_callback_t>(on_parallel_end)},
      {ompt_callback_implicit_task, reinterpret_cast<ompt_callback_t>(on_implicit_task)},
      {ompt_callback_task_create, reinterpret_cast<ompt_callback_t>(on_task_create)},
      {ompt_callback_task_schedule, reinterpret_cast<ompt_callback_t>(on_task_schedule)},
      {ompt_callback_sync_region_wait, reinterpret_cast<ompt_callback_t>(on_sync_region_wait)},
      {ompt_callback_work, reinterpret_cast<ompt_callback_t>(on_work)},
      {ompt_callback_masked, reinterpret_cast<ompt_callback_t>(on_masked)},
      {ompt_callback_mutex_acquire, reinterpret_cast<ompt_callback_t>(on_mutex_acquire)},
      {ompt_callback_mutex_acquired, reinterpret_cast<ompt_callback_t>(on_mutex_acquired)},
      {ompt_callback_mutex_released, reinterpret_cast<ompt_callback_t>(on_mutex_released)},
      {ompt_callback_nest_lock, reinterpret_cast<ompt_callback_t>(on_nest_lock)},
  };
  for (const auto& [event, function] : callbacks) set(event, function);
  g_traced.began = now();
  g_traced.cpus = std::max(count_cpus(), 1);
  g_traced.runtime = reinterpret_cast<const void*>(g_carrier);
  g_traced.cpu_before = platform::cpu_time_ns();
  g_others.emplace();
  watch_loops(on_loop);
  watch(on_switch);
  start_writing_so_far(write_so_far);
  return 1;
}

void finalize(ompt_data_t*) {
  // The child of a fork has its parent's records: they are the parent's to write.
  if (getpid() != g_process) return;
  // A thread that is still at it puts its file in the place of this one.
  if (!stop_writing_so_far()) base::warn("the trace %s may end early", g_path.c_str());
  std::FILE* file = std::fopen(g_path.c_str(), "we");
  const bool written = file != nullptr && write_to(file, false);
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed) base::warn("the trace %s could not be written: %s", g_path.c_str(), std::strerror(errno));
}

ompt_start_tool_result_t g_result{initialize, finalize, {}};

}  // namespace

}  // namespace weft::trace

extern "C" [[gnu::visibility("default")]] void weft_trace_call(const weft::base::TracedCall& call) {
  using namespace weft::trace;
  // A thread that has nothing to do with OpenMP.
  if (t_log == nullptr) on_thread_begin(ompt_thread_other, nullptr);
  auto* kept = new (std::nothrow) weft::base::TracedCall(call);
  if (t_log == nullptr || kept == nullptr) {
    delete kept;
    return;
  }
  Record made;
  made.time = call.began;
  made.what = What::call;
  made.call = kept;
  t_log->append(made);
}

extern "C" [[gnu::visibility("default")]] void weft_trace_rank(int rank, int ranks, int64_t together) {
  using weft::trace::g_traced;
  const std::lock_guard guard(weft::trace::g_lock);
  g_traced.rank = rank;
  g_traced.ranks = ranks;
  g_traced.together = together;
}

extern "C" ompt_start_tool_result_t* ompt_start_tool(unsigned, const char*) {
  const char* wanted = weft::base::options().trace_file.value;
  if (wanted == nullptr) return nullptr;
  weft::trace::g_process = getpid();
  weft::trace::g_path = weft::trace::path_of(wanted);
  weft::trace::g_path_so_far = weft::trace::g_path + "." + std::to_string(getpid()) + ".new";
  return &weft::trace::g_result;
}
