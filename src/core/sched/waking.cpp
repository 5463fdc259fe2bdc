// SPDX-License-Identifier: Apache-2.0
#include "core/sched/waking.h"

#include <algorithm>

#include "core/sched/upcalls.h"
#include "core/sched/work_in_sight.h"

namespace weft::core {

void note_wait(Carrier* carrier, int64_t now_ns, int64_t since_ns) noexcept {
  if (__builtin_expect(since_ns < Lateness::kLateNs, 1)) return;
  carrier->statistics.lates.add();
  carrier->lateness.note(now_ns);
  pool().lateness.note(now_ns);
}

void call(Carrier* carrier) noexcept {
  if (!pool().idle.remove(carrier->index)) {
    wake(carrier);
    return;
  }
  // Relaxed: it is the first guess for the exchange. Where another thread has called the carrier for other work, `wake`
  // stays as that thread has set it.
  uint32_t seen = carrier->wake.load(std::memory_order_relaxed);
  do {
    if (seen == Wake::notified) return;
  } while (!carrier->wake.compare_exchange_weak(seen, Wake::own));
  if (seen == Wake::sleeping) wake_sleeper(carrier);
}

void call_to_work(Carrier* carrier) noexcept {
  pool().idle.remove(carrier->index);
  wake(carrier);
}

void wake_for_work(Carrier* carrier) noexcept {
  if (work_in_sight(carrier)) call_to_work(carrier);
}

namespace {

// Makes workers, as there is work for them, until there are as many as slots. Returns whether there are more now. Where
// the system has refused threads, it does not ask for more each time that there is work.
bool make_workers(const Pool& p, int calls) noexcept {
  const int there = p.worker_count.load(std::memory_order_relaxed);
  if (there >= p.settings.slots - 1 || p.contexts.refused()) return false;
  grow_workers(std::min(p.settings.slots - 1, there + calls));
  return true;
}

// Returns the index where a search for a carrier begins: carriers whose numbers are near mostly run near each other.
int neighbours_of(const Carrier* carrier) noexcept {
  constexpr int kNeighbours = 8;
  return carrier != nullptr && carrier->is_listed() ? carrier->index / kNeighbours * kNeighbours : 0;
}

bool wake_idle(Pool& p, Work work, const Carrier* near, Carrier* origin) noexcept {
  const auto fits = [&p, work](int index) {
    const Carrier* carrier = p.carrier(index);
    return carrier != nullptr && may_serve(p, carrier, work);
  };
  const int count = p.carrier_count.load(std::memory_order_acquire);
  int index = -1;
  if (p.nodes.several() && work.parallel_call != nullptr &&
      work.parallel_call->places.load(std::memory_order_relaxed).any()) {
    index = p.idle.take(neighbours_of(near), count, [&](int other) {
      return fits(other) && Pool::is_at_places_of(work.parallel_call, p.carrier(other));
    });
  }
  if (index < 0 && p.nodes.several() && near != nullptr && near->is_listed()) {
    index = p.idle.take(neighbours_of(near), count,
                        [&](int other) { return p.nodes.near(near->index, other) && fits(other); });
  }
  if (index < 0) index = p.idle.take(neighbours_of(near), count, fits);
  if (index < 0) return false;
  Carrier* carrier = p.carrier(index);
  if (origin != nullptr && p.nodes.several()) carrier->called_by.store(origin, std::memory_order_relaxed);
  wake(carrier);
  return true;
}

void poke_waiting(Pool& p, Work work, int most, const Carrier* near, Carrier* origin) noexcept {
  const auto waits = [&p](int index) {
    // visit() asks for whole groups of indices, so the count is read anew: a carrier is counted before it can wait.
    return index < p.carrier_count.load(std::memory_order_acquire) &&
           p.carrier(index)->waiting.load(std::memory_order_relaxed);
  };
  const auto poke = [&](int index) {
    Carrier* carrier = p.carrier(index);
    // A carrier that has work in its own list ends its wait for that, not for this work.
    if (!carrier->ready.empty() || !may_serve(p, carrier, work)) return false;
    // A carrier that another thread has poked comes for that thread's work.
    if (carrier->poked.load(std::memory_order_relaxed)) return false;
    if (origin != nullptr && p.nodes.several()) carrier->called_by.store(origin, std::memory_order_relaxed);
    if (carrier->poked.exchange(true)) return false;
    // With the fence of end_waiting(): the carrier has seen the poke, or is seen here not to wait any more.
    platform::full_fence_after_update();
    if (!carrier->waiting.load(std::memory_order_relaxed) && carrier->poked.exchange(false)) return false;
    return --most <= 0;
  };
  p.waiting.visit(neighbours_of(near), p.carrier_count.load(std::memory_order_acquire), waits, poke);
}

}  // namespace

[[gnu::noinline]] void wake_some(Pool& p, Work work, int most, Carrier* origin) noexcept {
  // On a machine with one NUMA node, each caller begins its search at its own carrier: so those that call for the same
  // region meet less.
  const Carrier* near = origin != nullptr && p.nodes.several() ? origin : current_context()->carrier;
  const auto wake_idle_ones = [&] {
    while (most > 0 && wake_idle(p, work, near, origin)) --most;
  };
  wake_idle_ones();
  if (most > 0 && make_workers(p, most)) wake_idle_ones();
  if (most > 0) poke_waiting(p, work, most, near, origin);
}

void call_one_there(Pool& p, Work work, Carrier* origin) noexcept {
  if (!wake_idle(p, work, origin, origin)) poke_waiting(p, work, 1, origin, origin);
}

int call_waited_for(Pool& p, int from, int most) noexcept {
  const int count = p.worker_count.load(std::memory_order_acquire);
  int called = 0;
  for (int i = 0; i < count && called < most; ++i) {
    Carrier* worker = p.worker(from + i < count ? from + i : from + i - count);
    if (!p.is_idle(worker) || worker->ready.empty() || !p.allowed(worker)) continue;
    if (!p.idle.remove(worker->index)) continue;
    wake(worker);
    ++called;
  }
  return called;
}

}  // namespace weft::core
