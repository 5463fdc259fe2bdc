// SPDX-License-Identifier: Apache-2.0
// Waking carriers: contexts that can go on, and calls that can be claimed, reach a carrier that may serve them.
// Internal to core.
#pragma once

#include <array>

#include "core/sched/pool.h"
#include "platform/fence.h"

namespace weft::core {

// Wakes a carrier, idle or not.
void wake(Carrier* carrier) noexcept;
// Wakes a carrier for something that it alone is to do, or is the first to do: it is called, and nobody calls it for
// other work.
void call(Carrier* carrier) noexcept;
// It wanted to run and has last done so `since_ns` ago.
void note_wait(Carrier* carrier, int64_t now_ns, int64_t since_ns) noexcept;

// In whose list a context is to stand.
Carrier* carrier_for(const Context* context) noexcept;

// `context`, which nobody runs or holds, can go on.
void make_ready(Context* context) noexcept;
// The same for a chain of them.
void make_all_ready(Context* chain) noexcept;
// The same for chains that end with null, each of contexts that all belong into the list of one carrier and do the same
// work, without a look at them. Carriers are called when all are there: one that finds its own does not come for
// another's.
class ReadyTogether {
 public:
  // False, and nothing is done, when that carrier may not serve them any more.
  bool add(Carrier* carrier, Work work, Context* first, Context* last, int count) noexcept;
  // After the last one.
  void call() noexcept;

 private:
  static constexpr int kMost = 32;
  struct List {
    Carrier* carrier;
    const Carrier* group;
    const ParallelCall* parallel_call;
    int count;
  };
  std::array<List, kMost> lists_;  // not initialized
  int size_ = 0;
};

// Calls up to `most` idle workers that contexts wait for in their own lists, from that of number `from` on. How many.
int call_waited_for(Pool& p, int from, int most) noexcept;

inline Work work_of(const Context* context) noexcept {
  return {context->group, context->parallel_call.load(std::memory_order_relaxed)};
}

// Asked up to three times for each context that goes on.
[[gnu::always_inline]] inline bool may_serve(const Pool& p, const Carrier* carrier, Work work) noexcept {
  return carrier->is_root() ? carrier == work.group : p.allowed_for(carrier, work.parallel_call);
}

// Wakes idle carriers, makes workers, and pokes carriers that only wait, until `most` are called.
[[gnu::noinline]] void wake_some(Pool& p, Work work, int most) noexcept;

// Work for `most` carriers has been published, and a fence has followed. Mostly all are at work.
inline void notify_some(Pool& p, Work work, int most) noexcept {
  const bool anybody = !p.none_idle() || p.waiting_count.load(std::memory_order_relaxed) > 0 ||
                       p.worker_count.load(std::memory_order_relaxed) < p.settings.slots - 1;
  if (anybody && most > 0) wake_some(p, work, most);
}

// Wakes one idle carrier that may do the work, which the caller has published before.
inline void notify(Work work) noexcept {
  platform::full_fence();
  notify_some(pool(), work, 1);
}

}  // namespace weft::core
