// SPDX-License-Identifier: Apache-2.0
// Forks: a child has no permits and holds nothing.
#include <pthread.h>

#include "tcm/pool.h"
#include "tcm/records.h"
#include "tcm/threads.h"

namespace weft::tcm {

namespace {

// A fork must not wait for the lock, nor hold it: then clients' threads would wait for it in the middle of the fork,
// with locks of the client's held, and its child would find these locked for ever. So what the lock guards may be half
// changed here; the child leaves it all behind.
void after_fork_in_child() {
  forget_records();
  const bool has_come = t_inside.depth > 0 && t_inside.has_come;
  g_primaries.store(has_come ? 1 : 0, std::memory_order_relaxed);
  if (t_inside.permit != nullptr) {
    t_inside.permit->primaries.store(has_come ? 1 : 0, std::memory_order_relaxed);
    t_inside.permit->workers.store(has_come ? 0 : 1, std::memory_order_relaxed);
  }
  if (const core::PoolSide* side = pool()) side->forget();
}

[[gnu::constructor]] void on_load() { pthread_atfork(nullptr, nullptr, after_fork_in_child); }

}  // namespace

}  // namespace weft::tcm
