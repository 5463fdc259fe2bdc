// SPDX-License-Identifier: Apache-2.0
// The probe of a region whose members seem to wait: whether a lent thread gets them on.
#include "core/monitor/stalls.h"
#include "core/sched/gang_regions.h"
#include "core/sched/pool.h"
#include "core/sched/waking.h"
#include "platform/cycles.h"

namespace weft::core {

namespace {

// The threads of a probe stay for so long with a region that has been seen to wait, if it does not end before.
constexpr int64_t kKeptNs = 100'000'000;

}  // namespace

// Whether a lent thread is still at work although its loan has ended.
bool Stalls::threads_are_out() const noexcept {
  const int count = pool_.worker_count.load(std::memory_order_acquire);
  for (int i = std::min(count, pool_.worker_limit()); i < count; ++i) {
    if (!pool_.is_idle(pool_.worker(i))) return true;
  }
  return false;
}

// Notes since when the members of the target have not got on. They may be at a loop's chunks or at tasks, which
// carriers do not count.
void Stalls::see_region() noexcept {
  if (target_.parallel_call == nullptr) return;
  const auto progress_of_region = pool_.settings.progress;
  const uint64_t progress = progress_of_region != nullptr ? progress_of_region(*target_.parallel_call) : 0;
  const bool same = target_.parallel_call == candidate_.parallel_call && target_.function == candidate_.function;
  candidate_ = target_;
  if (same && progress == candidate_progress_) return;
  candidate_progress_ = progress;
  candidate_since_ns_ = time_ns_;
}

void Stalls::begin_probe() noexcept {
  if (target_.parallel_call == nullptr || threads_are_out()) return;
  const int64_t patience = patience_of(target_.function);
  if (quiet_ns(target_.root) < patience || 2 * (time_ns_ - candidate_since_ns_) < patience) return;
  candidate_ = {};
  probe_ = {.parallel_call = target_.parallel_call, .function = target_.function, .root = target_.root};
  watch_.begin(time_ns_, patience);
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *pool_.carrier(i);
    Seen& before = seen(i);
    before.ran_before_probe = runs(carrier);
    before.probe_activity = activity_of(carrier);
    before.probe_progress = progress_of(carrier);
  }
  probe_.parallel_call->gang.store(true, std::memory_order_relaxed);
  lend_to_probe(1);
}

void Stalls::lend_to_probe(int threads) noexcept {
  const int known = pool_.carrier_count.load(std::memory_order_acquire);
  const int lent = lend_region_threads(threads);
  pool_.compensations.fetch_add(static_cast<uint64_t>(lent), std::memory_order_relaxed);
  probe_.lent += lent;
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  for (int i = known; i < count; ++i) seen(i).ran_before_probe = false;
  for (int i = 0; i < lent; ++i) notify({probe_.root, probe_.parallel_call});
}

void Stalls::end_probe() noexcept {
  return_region_threads(probe_.lent);
  const bool same = probe_.parallel_call->function.load(std::memory_order_relaxed) == probe_.function;
  if (same && !g_gang_regions.has(probe_.function)) probe_.parallel_call->gang.store(false, std::memory_order_relaxed);
  probe_ = {};
  // The next probe comes only after a new patience.
  workers_quiet_since_ns_ = time_ns_;
}

void Stalls::look() noexcept {
  move_clock();
  look_at_probe();
}

void Stalls::look_at_probe() noexcept {
  if (probe_.kept) {
    // The next region that uses the same record is not a gang's until it is made one.
    const bool same = probe_.parallel_call->function.load(std::memory_order_relaxed) == probe_.function &&
                      probe_.parallel_call->gang.load(std::memory_order_relaxed);
    if (!same || time_ns_ > probe_.until_ns) end_probe();
    return;
  }
  Probe::Look now{.time_ns = time_ns_, .lent_idle = true};
  const int count = pool_.carrier_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& carrier = *pool_.carrier(i);
    const Seen& before = seen(i);
    if (before.ran_before_probe) {
      now.others_moved |= activity_of(carrier) != before.probe_activity;
    } else if (!carrier.is_root()) {
      now.lent_progress += progress_of(carrier) - before.probe_progress;
      now.lent_idle &= pool_.is_idle(&carrier);
    }
  }
  switch (watch_.look(now)) {
    case Probe::Verdict::open: return;
    case Probe::Verdict::computes:
      records_.computes(probe_.function);
      end_probe();
      return;
    case Probe::Verdict::waits:
      waiters_seen_ = true;
      records_.waits(probe_.function, platform::now_ns());
      if (records_.is_gang(probe_.function)) g_gang_regions.add(probe_.function);
      probe_.kept = true;
      probe_.until_ns = time_ns_ + kKeptNs;
      return;
  }
}

}  // namespace weft::core
