// SPDX-License-Identifier: Apache-2.0
// KMP: parallel regions and leagues, and the numbers of their threads.
#include <cstdarg>
#include <cstdlib>
#include <utility>

#include "openmp/kmp/microtask.h"
#include "openmp/kmp/parallel.h"
#include "openmp/region/league.h"
#include "openmp/settings/icv.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// The clauses of the thread's next region. A negative number of threads: there is a list, and the rest of it is in
// t_below.
thread_local Clauses t_clauses;
thread_local uint8_t t_below = 0;  // see nthreads_tail()

// Regions below this one take their numbers from a list: the region's team gets it from the caller's ICVs.
void fork_with_list(const void* caller, Microtask task, void** arguments, int count, Clauses clauses);

void fork_call(const void* caller, Microtask task, void** arguments, int count, Clauses clauses) {
  if (__builtin_expect(clauses.threads < 0, 0)) return fork_with_list(caller, task, arguments, count, clauses);
  with_words(task, arguments, count,
             [caller, clauses](Invoke invoke, void** words) { parallel(invoke, words, clauses, caller); });
}

// As the program asks for it.
[[gnu::always_inline]] inline void fork(Microtask task, void** arguments, int count, Clauses clauses, int requested) {
  tool::enter_region([=](const void* caller) { fork_call(caller, task, arguments, count, clauses); }, requested);
}

void fork_with_list(const void* caller, Microtask task, void** arguments, int count, Clauses clauses) {
  Icvs& now = own_icvs(self());
  const uint8_t before = std::exchange(now.nthreads_tail, std::exchange(t_below, 0));
  clauses.threads = -clauses.threads;
  fork_call(caller, task, arguments, count, clauses);
  now.nthreads_tail = before;
}

// What the next teams construct of the calling thread asks for.
thread_local int t_num_teams = 0;
thread_local int t_team_threads = 0;

}  // namespace

Clauses kmp::take_clauses() noexcept { return std::exchange(t_clauses, Clauses()); }

void kmp::put_back_clauses(const Clauses& clauses) noexcept { t_clauses = clauses; }

void kmp::push_num_threads(const int32_t* list, int count) noexcept {
  t_clauses.threads = count > 0 && list[0] > 0 ? list[0] : 0;
  if (count < 2 || t_clauses.threads == 0) return;
  t_below = nthreads_tail(list + 1, count - 1);
  if (t_below != 0) t_clauses.threads = -t_clauses.threads;
}

WEFT_ABI(void, __kmpc_push_num_teams)(Ident*, int32_t, int32_t teams, int32_t threads) {
  t_num_teams = teams;
  t_team_threads = threads;
}

// With a lower bound: the upper one is what is given.
WEFT_ABI(void, __kmpc_push_num_teams_51)(Ident*, int32_t, int32_t, int32_t teams, int32_t threads) {
  t_num_teams = teams;
  t_team_threads = threads;
}

// The clause of a target region, which stands in a task of its own.
WEFT_ABI(void, __kmpc_set_thread_limit)(Ident*, int32_t, int32_t threads) {
  if (threads > 0) set_thread_limit(own_icvs(self()), threads);
}

WEFT_ABI(void, __kmpc_fork_teams)(Ident*, int32_t count, Microtask task, ...) {
  auto** arguments = static_cast<void**>(__builtin_alloca(sizeof(void*) * static_cast<size_t>(count + 1)));
  va_list list;
  va_start(list, task);
  for (int i = 0; i < count; ++i) arguments[i] = va_arg(list, void*);
  va_end(list);
  const tool::Entry entry(WEFT_CALLER);
  const int teams = std::exchange(t_num_teams, 0);
  const int threads = std::exchange(t_team_threads, 0);
  with_words(task, arguments, count, [=](Invoke invoke, void** words) { run_league(invoke, words, teams, threads); });
}

WEFT_ABI(void, __kmpc_fork_call)(Ident*, int32_t count, Microtask task, ...) {
  const Clauses clauses = take_clauses();
  const int requested = std::abs(clauses.threads);
  va_list list;
  va_start(list, task);
  // Most regions share few variables: no need to touch a large frame for them.
  void* few[16];
  if (count <= 16) {
    for (int i = 0; i < count; ++i) few[i] = va_arg(list, void*);
    va_end(list);
    fork(task, few, count, clauses, requested);
    return;
  }
  auto** many = static_cast<void**>(__builtin_alloca(sizeof(void*) * static_cast<size_t>(count)));
  for (int i = 0; i < count; ++i) many[i] = va_arg(list, void*);
  va_end(list);
  fork(task, many, count, clauses, requested);
}

WEFT_ABI(void, __kmpc_fork_call_if)(Ident*, int32_t, Microtask task, int32_t condition, void* argument) {
  void* arguments[1] = {argument};
  Clauses clauses = take_clauses();
  const int requested = std::abs(clauses.threads);
  if (condition == 0) clauses.threads = 1;
  fork(task, arguments, argument != nullptr ? 1 : 0, clauses, requested);
}

WEFT_ABI(void, __kmpc_push_num_threads)(Ident*, int32_t, int32_t threads) {
  t_clauses.threads = threads > 0 ? threads : 0;
}

// The numbers of the policies are OpenMP's; but clang has one more for primary, which it knows as master too.
WEFT_ABI(void, __kmpc_push_proc_bind)(Ident*, int32_t, int32_t bind) {
  constexpr auto kMost = static_cast<int32_t>(base::ProcBind::spread);
  constexpr int32_t kPrimaryOfClang = 5;
  if (bind == kPrimaryOfClang) bind = static_cast<int32_t>(base::ProcBind::primary);
  if (bind > 0 && bind <= kMost) t_clauses.bind = static_cast<base::ProcBind>(bind);
}

WEFT_ABI(void, __kmpc_serialized_parallel)(Ident*, int32_t) {
  t_clauses = Clauses();
  tool::enter([](Member*, auto, const void*) { begin_serial(); }, 1);
}

WEFT_ABI(void, __kmpc_end_serialized_parallel)(Ident*, int32_t) {
  tool::enter([](Member*, auto, const void*) { end_parallel(); });
}

WEFT_ABI(void, __kmpc_begin)(Ident*, int32_t) {}

WEFT_ABI(void, __kmpc_end)(Ident*) {}

WEFT_ABI(int32_t, __kmpc_ok_to_fork)(Ident*) { return 1; }

WEFT_ABI(int32_t, __kmpc_global_thread_num)(Ident*) { return self()->number; }

WEFT_ABI(int32_t, __kmpc_global_num_threads)(Ident*) { return self()->team->size; }

WEFT_ABI(int32_t, __kmpc_bound_thread_num)(Ident*) { return self()->number; }

WEFT_ABI(int32_t, __kmpc_bound_num_threads)(Ident*) { return self()->team->size; }

WEFT_ABI(int32_t, __kmpc_in_parallel)(Ident*) { return self()->team->active_level > 0 ? 1 : 0; }
