// SPDX-License-Identifier: Apache-2.0
// KMP: barrier, master, masked, scope, single, critical, flush.
#include <atomic>

#include "openmp/kmp/kmp.h"
#include "openmp/lock/lock.h"
#include "openmp/team/copyprivate.h"

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

[[gnu::always_inline]] inline int32_t begin_masked(int32_t filter) {
  return tool::enter([=](Member* member, auto listener, const void* caller) {
    if (member->number != filter) return 0;
    tool::begin_masked(listener, member, caller);
    return 1;
  });
}

[[gnu::always_inline]] inline void end_masked() {
  tool::enter([](Member* member, auto listener, const void* caller) { tool::end_masked(listener, member, caller); });
}

}  // namespace

WEFT_ABI(void, __kmpc_barrier)(Ident* location, int32_t) {
  tool::enter([=](Member* member, auto listener, const void* caller) {
    barrier(member, listener == tool::Listener::possible ? barrier_of(location) : Barrier::construct, caller, listener);
  });
}

// The primary goes on alone after the first barrier; the others wait for the second, which it enters when it is done.
WEFT_ABI(int32_t, __kmpc_barrier_master)(Ident*, int32_t) {
  Member* member = self();
  barrier(member, Barrier::runtime, WEFT_CALLER);
  if (member->number == 0) return 1;
  barrier(member, Barrier::runtime, WEFT_CALLER);
  return 0;
}

WEFT_ABI(void, __kmpc_end_barrier_master)(Ident*, int32_t) { barrier(self(), Barrier::runtime, WEFT_CALLER); }

WEFT_ABI(int32_t, __kmpc_barrier_master_nowait)(Ident*, int32_t) {
  Member* member = self();
  barrier(member, Barrier::runtime, WEFT_CALLER);
  return member->number == 0 ? 1 : 0;
}

WEFT_ABI(int32_t, __kmpc_master)(Ident*, int32_t) { return begin_masked(0); }

WEFT_ABI(void, __kmpc_end_master)(Ident*, int32_t) { end_masked(); }

WEFT_ABI(int32_t, __kmpc_masked)(Ident*, int32_t, int32_t filter) { return begin_masked(filter); }

WEFT_ABI(void, __kmpc_end_masked)(Ident*, int32_t) { end_masked(); }

// The barrier at the end of a scope region is a call of its own.
WEFT_ABI(void, __kmpc_scope)(Ident*, int32_t, void*) {
  const tool::Entry entry(WEFT_CALLER);
  if (tool::is_on()) tool::begin_work(self(), ompt_work_scope, 1);
}

WEFT_ABI(void, __kmpc_end_scope)(Ident*, int32_t, void*) {
  const tool::Entry entry(WEFT_CALLER);
  if (tool::is_on()) tool::end_work(self(), nullptr);
}

WEFT_ABI(int32_t, __kmpc_single)(Ident*, int32_t) {
  return tool::enter([](Member* member, auto listener, const void*) { return begin_single(member, listener) ? 1 : 0; });
}

WEFT_ABI(void, __kmpc_end_single)(Ident*, int32_t) {
  tool::enter([](Member* member, auto listener, const void* caller) { tool::end_single(listener, member, caller); });
}

WEFT_ABI(void, __kmpc_copyprivate)(Ident*, int32_t, size_t, void* data, void (*copy)(void* to, void* from),
                                   int32_t did_it) {
  Member* member = self();
  void* offered = exchange_copies(member, did_it != 0 ? data : nullptr, Barrier::runtime, WEFT_CALLER);
  if (did_it == 0) copy(data, offered);
  barrier(member, Barrier::runtime, WEFT_CALLER);
}

// As above, but the program copies: it gets the executing member's data.
WEFT_ABI(void*, __kmpc_copyprivate_light)(Ident*, int32_t, void* data) {
  return exchange_copies(self(), data, Barrier::runtime, WEFT_CALLER);
}

WEFT_ABI(void, __kmpc_critical)(Ident*, int32_t, CriticalName* name) {
  acquire(*reinterpret_cast<LockWord*>(name), ompt_mutex_critical);
}

WEFT_ABI(void, __kmpc_critical_with_hint)(Ident*, int32_t, CriticalName* name, uint32_t) {
  acquire(*reinterpret_cast<LockWord*>(name), ompt_mutex_critical);
}

WEFT_ABI(void, __kmpc_end_critical)(Ident*, int32_t, CriticalName* name) {
  release(*reinterpret_cast<LockWord*>(name), ompt_mutex_critical);
}

WEFT_ABI(void, __kmpc_flush)(Ident*) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  tool::flush(WEFT_CALLER);
}
