// SPDX-License-Identifier: Apache-2.0
#include "openmp/library/call_policy.h"

#include <algorithm>
#include <array>

#include "base/address_hash.h"
#include "core/api/wait.h"
#include "openmp/record/team.h"
#include "platform/cycles.h"
#include "platform/spinlock.h"

namespace weft::openmp {

std::atomic<bool> g_library_calls{false};

namespace {

constexpr unsigned kSiteBits = 7;
constexpr size_t kSites = size_t{1} << kSiteBits;
// Samples kept of each way; the least of them counts, since what disturbs a run makes it longer.
constexpr int kKept = 3;
// Runs of each way before there is a choice.
constexpr int kTrials = 3;
// How often the other way is tried again: work may change.
constexpr uint32_t kTryAgain = 64;
// A way must be better by this much to be taken in place of the one in use.
constexpr double kAdvantage = 0.98;

}  // namespace

struct Site {
  std::atomic<const void*> function{nullptr};
  platform::Spinlock lock;  // of the rest
  std::array<std::array<int64_t, kKept>, kWays> samples{};
  std::array<uint32_t, kWays> count{};
  uint32_t runs = 0;
  int used = 0;

  int64_t best(int way) const noexcept {
    const auto& kept = samples[way];
    return *std::min_element(kept.begin(), kept.begin() + std::min<uint32_t>(count[way], kKept));
  }

  Way choose() noexcept {
    // In turn, since the first runs of a process are slow whatever the way.
    const auto* fewest = std::min_element(count.begin(), count.end());
    if (*fewest < kTrials) return static_cast<Way>(fewest - count.begin());
    for (int way = 0; way < kWays; ++way) {
      if (static_cast<double>(best(way)) < kAdvantage * static_cast<double>(best(used))) used = way;
    }
    const uint32_t run = ++runs;
    if (run % kTryAgain != 0) return static_cast<Way>(used);
    return static_cast<Way>((used + 1 + run / kTryAgain % (kWays - 1)) % kWays);
  }

  void note(Way way, int64_t ns) noexcept {
    const auto index = static_cast<size_t>(way);
    // In this order: in the child of a fork nobody may come back to a sample that is counted and not there.
    samples[index][count[index] % kKept] = ns;
    ++count[index];
  }
};

namespace {

std::array<Site, kSites> g_sites;

// The record of `function`, made if `make`; null when there is none. Records are never given up.
Site* site_of(const void* function, bool make) noexcept {
  const size_t start = base::address_hash<kSiteBits>(function);
  for (size_t i = 0; i < kSites; ++i) {
    Site& site = g_sites[(start + i) % kSites];
    const void* seen = site.function.load(std::memory_order_acquire);
    if (seen == function) return &site;
    if (seen != nullptr) continue;
    if (!make) return nullptr;
    if (site.function.compare_exchange_strong(seen, function, std::memory_order_acq_rel) || seen == function) {
      return &site;
    }
  }
  return nullptr;
}

}  // namespace

void begin_watched(Team* team) noexcept {
  team->policy.site =
      team->active_level == 1 ? site_of(team->function.load(std::memory_order_relaxed), false) : nullptr;
  team->policy.way = Way::tail;
  if (team->policy.site == nullptr) return;
  Site& site = *team->policy.site;
  site.lock.lock();
  team->policy.way = site.choose();
  // A trial that turns out badly must not take for ever.
  const int64_t longest = site.count[0] > 0 ? 2 * site.best(0) : 0;
  site.lock.unlock();
  team->policy.began_ns = platform::now_ns();
  team->policy.give_up_ns = team->policy.began_ns + longest;
}

void end_watched(Team* team) noexcept {
  Site* site = team->policy.site;
  if (site == nullptr) return;
  team->policy.site = nullptr;
  const int64_t ns = platform::now_ns() - team->policy.began_ns;
  site->lock.lock();
  site->note(team->policy.way, ns);
  site->lock.unlock();
}

Way way_of_calls(Team* team) noexcept {
  // A thread that waits for a turn looks for it all the time: not for those that want to wait passively.
  constexpr long kPatienceNs = 100'000;
  if (team->active_level != 1 || core::spin_ns() < kPatienceNs) return Way::side_by_side;
  if (team->policy.site == nullptr) {
    site_of(team->function.load(std::memory_order_relaxed), true);
    g_library_calls.store(true, std::memory_order_relaxed);
  }
  if (team->policy.way == Way::turns && platform::now_ns() > team->policy.give_up_ns) return Way::side_by_side;
  return team->policy.way;
}

}  // namespace weft::openmp
