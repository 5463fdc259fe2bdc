// SPDX-License-Identifier: Apache-2.0
// GOMP: parallel regions, barrier, critical, atomic, single, master is inline in the program.
#include <cstdlib>

#include "base/message.h"
#include "openmp/gomp/gomp.h"
#include "openmp/league.h"
#include "openmp/libraries.h"
#include "openmp/lock.h"

using namespace weft::openmp;
using namespace weft::openmp::gomp;

namespace {

LockWord g_critical{0};

}  // namespace

WEFT_ABI void weft_abi_GOMP_parallel(Function function, void* data, unsigned threads, unsigned flags) {
  const ompt::Entry entry(WEFT_CALLER, static_cast<int>(threads));
  Region region(function, data);
  if (t_told > 1) {
    if (const int size = gang_size(__builtin_return_address(0)); size > 1) {
      return parallel_gang(run_function, region.words, size);
    }
  }
  parallel(run_function, region.words, clauses(threads, flags));
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

WEFT_ABI void weft_abi_GOMP_barrier() { barrier(self(), Barrier::construct, WEFT_CALLER); }
WEFT_ABI_EXPORT(GOMP_barrier);

WEFT_ABI void weft_abi_GOMP_critical_start() { acquire(g_critical, ompt_mutex_critical, WEFT_CALLER); }
WEFT_ABI_EXPORT(GOMP_critical_start);

WEFT_ABI void weft_abi_GOMP_critical_end() { release(g_critical, ompt_mutex_critical, WEFT_CALLER); }
WEFT_ABI_EXPORT(GOMP_critical_end);

// The compiler gives each name a zeroed pointer: its first bytes are the lock.
WEFT_ABI void weft_abi_GOMP_critical_name_start(void** name) {
  acquire(*reinterpret_cast<LockWord*>(name), ompt_mutex_critical, WEFT_CALLER);
}
WEFT_ABI_EXPORT(GOMP_critical_name_start);

WEFT_ABI void weft_abi_GOMP_critical_name_end(void** name) {
  release(*reinterpret_cast<LockWord*>(name), ompt_mutex_critical, WEFT_CALLER);
}
WEFT_ABI_EXPORT(GOMP_critical_name_end);

WEFT_ABI void weft_abi_GOMP_atomic_start() { acquire(g_atomic, ompt_mutex_atomic, WEFT_CALLER); }
WEFT_ABI_EXPORT(GOMP_atomic_start);

WEFT_ABI void weft_abi_GOMP_atomic_end() { release(g_atomic, ompt_mutex_atomic, WEFT_CALLER); }
WEFT_ABI_EXPORT(GOMP_atomic_end);

WEFT_ABI bool weft_abi_GOMP_single_start() {
  const ompt::Entry entry(WEFT_CALLER);
  return begin_single(self());
}
WEFT_ABI_EXPORT(GOMP_single_start);

// Null for the member that executes the region; for the others, what it passed to GOMP_single_copy_end.
WEFT_ABI void* weft_abi_GOMP_single_copy_start() {
  const ompt::Entry entry(WEFT_CALLER);
  Member* member = self();
  if (begin_single(member)) return nullptr;
  barrier(member, Barrier::end_of_workshare, WEFT_CALLER);
  return member->team->copyprivate.load(std::memory_order_relaxed);
}
WEFT_ABI_EXPORT(GOMP_single_copy_start);

WEFT_ABI void weft_abi_GOMP_single_copy_end(void* data) {
  Member* member = self();
  // Relaxed: the barrier orders it.
  member->team->copyprivate.store(data, std::memory_order_relaxed);
  barrier(member, Barrier::end_of_workshare, WEFT_CALLER);
}
WEFT_ABI_EXPORT(GOMP_single_copy_end);
