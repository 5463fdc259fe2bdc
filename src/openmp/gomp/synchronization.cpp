// SPDX-License-Identifier: Apache-2.0
// GOMP: barrier, critical, atomic, single. The program does master itself.
#include "openmp/gomp/gomp.h"
#include "openmp/lock/lock.h"
#include "openmp/team/copyprivate.h"

using namespace weft::openmp;

namespace {

LockWord g_critical{kFree};

}  // namespace

WEFT_ABI(void, GOMP_barrier)() {
  tool::enter(
      [](Member* member, auto listener, const void* caller) { barrier(member, Barrier::construct, caller, listener); });
}

WEFT_ABI(void, GOMP_critical_start)() { acquire(g_critical, ompt_mutex_critical); }

WEFT_ABI(void, GOMP_critical_end)() { release(g_critical, ompt_mutex_critical); }

// The compiler gives each name a zeroed pointer: its first bytes are the lock.
WEFT_ABI(void, GOMP_critical_name_start)(void** name) {
  acquire(*reinterpret_cast<LockWord*>(name), ompt_mutex_critical);
}

WEFT_ABI(void, GOMP_critical_name_end)(void** name) {
  release(*reinterpret_cast<LockWord*>(name), ompt_mutex_critical);
}

WEFT_ABI(void, GOMP_atomic_start)() { acquire(g_atomic, ompt_mutex_atomic); }

WEFT_ABI(void, GOMP_atomic_end)() { release(g_atomic, ompt_mutex_atomic); }

WEFT_ABI(bool, GOMP_single_start)() {
  return tool::enter([](Member* member, auto listener, const void*) { return begin_single(member, listener); });
}

// Null for the member that executes the region; for the others, what it passed to GOMP_single_copy_end.
WEFT_ABI(void*, GOMP_single_copy_start)() {
  return tool::enter([](Member* member, auto listener, const void* caller) -> void* {
    if (begin_single(member, listener)) return nullptr;
    return exchange_copies(member, nullptr, Barrier::end_of_workshare, caller);
  });
}

WEFT_ABI(void, GOMP_single_copy_end)(void* data) {
  tool::enter([data](Member* member, auto, const void* caller) {
    exchange_copies(member, data, Barrier::end_of_workshare, caller);
  });
}
