// SPDX-License-Identifier: Apache-2.0
// GOMP: parallel regions, barrier, critical, atomic, single, master is inline in the program.
#include "openmp/api/lock.h"
#include "openmp/gomp/gomp.h"
#include "openmp/library/caller_region.h"
#include "openmp/team/league.h"

using namespace weft::openmp;
using namespace weft::openmp::gomp;

namespace {

LockWord g_critical{kFree};

}  // namespace

WEFT_ABI void weft_abi_GOMP_parallel(Function function, void* data, unsigned threads, unsigned flags) {
  const auto begin = [=](Member*, auto told, const void* caller) {
    Region region(function, data);
    parallel_for_caller<told>(caller, run_function, region.words, clauses(threads, flags));
  };
  ompt::enter(begin, static_cast<int>(threads));
}
WEFT_ABI_EXPORT(GOMP_parallel);

WEFT_ABI void weft_abi_GOMP_teams_reg(Function function, void* data, unsigned teams, unsigned thread_limit, unsigned) {
  const ompt::Entry entry(WEFT_CALLER);
  Region region(function, data);
  run_league(run_function, region.words, static_cast<int>(teams), static_cast<int>(thread_limit));
}
WEFT_ABI_EXPORT(GOMP_teams_reg);

// gcc 4.8 and older: the primary's body stands between the two.
WEFT_ABI void weft_abi_GOMP_parallel_start(Function function, void* data, unsigned threads) {
  const ompt::Entry entry(WEFT_CALLER, static_cast<int>(threads));
  Region region(function, data);
  begin_parallel(run_function, region.words, clauses(threads));
}
WEFT_ABI_EXPORT(GOMP_parallel_start);

WEFT_ABI void weft_abi_GOMP_parallel_end() {
  const ompt::Entry entry(WEFT_CALLER);
  end_parallel();
}
WEFT_ABI_EXPORT(GOMP_parallel_end);

WEFT_ABI void weft_abi_GOMP_barrier() {
  ompt::enter([](Member* member, auto told, const void* caller) { barrier<told>(member, Barrier::construct, caller); });
}
WEFT_ABI_EXPORT(GOMP_barrier);

WEFT_ABI void weft_abi_GOMP_critical_start() { acquire(g_critical, ompt_mutex_critical); }
WEFT_ABI_EXPORT(GOMP_critical_start);

WEFT_ABI void weft_abi_GOMP_critical_end() { release(g_critical, ompt_mutex_critical); }
WEFT_ABI_EXPORT(GOMP_critical_end);

// The compiler gives each name a zeroed pointer: its first bytes are the lock.
WEFT_ABI void weft_abi_GOMP_critical_name_start(void** name) {
  acquire(*reinterpret_cast<LockWord*>(name), ompt_mutex_critical);
}
WEFT_ABI_EXPORT(GOMP_critical_name_start);

WEFT_ABI void weft_abi_GOMP_critical_name_end(void** name) {
  release(*reinterpret_cast<LockWord*>(name), ompt_mutex_critical);
}
WEFT_ABI_EXPORT(GOMP_critical_name_end);

WEFT_ABI void weft_abi_GOMP_atomic_start() { acquire(g_atomic, ompt_mutex_atomic); }
WEFT_ABI_EXPORT(GOMP_atomic_start);

WEFT_ABI void weft_abi_GOMP_atomic_end() { release(g_atomic, ompt_mutex_atomic); }
WEFT_ABI_EXPORT(GOMP_atomic_end);

WEFT_ABI bool weft_abi_GOMP_single_start() {
  return ompt::enter([](Member* member, auto told, const void*) { return begin_single<told>(member); });
}
WEFT_ABI_EXPORT(GOMP_single_start);

// Null for the member that executes the region; for the others, what it passed to GOMP_single_copy_end.
WEFT_ABI void* weft_abi_GOMP_single_copy_start() {
  return ompt::enter([](Member* member, auto told, const void* caller) -> void* {
    if (begin_single<told>(member)) return nullptr;
    barrier<told>(member, Barrier::end_of_workshare, caller);
    return member->team->loops.copyprivate.load(std::memory_order_relaxed);
  });
}
WEFT_ABI_EXPORT(GOMP_single_copy_start);

WEFT_ABI void weft_abi_GOMP_single_copy_end(void* data) {
  ompt::enter([data](Member* member, auto told, const void* caller) {
    // Relaxed: the barrier orders it.
    member->team->loops.copyprivate.store(data, std::memory_order_relaxed);
    barrier<told>(member, Barrier::end_of_workshare, caller);
  });
}
WEFT_ABI_EXPORT(GOMP_single_copy_end);
