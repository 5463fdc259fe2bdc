// SPDX-License-Identifier: Apache-2.0
#include "observe/record/profile/counts.h"

#include <algorithm>

#include "observe/record/profile/scale.h"

namespace weft::observe {

std::vector<Sum> sums(uint32_t nodes) {
  std::vector<Sum> all(nodes);
  for (const ContextRecord* record = g_records.load(std::memory_order_acquire); record != nullptr;
       record = record->next) {
    record->visit([&](const Entry& entry) {
      if (entry.node >= nodes) return;
      Sum& sum = all[entry.node];
      sum.count += entry.count.get();
      sum.iterations += entry.iterations.get();
      sum.pieces += entry.pieces.get();
      sum.stolen += entry.stolen.get();
      sum.unwatched += entry.unwatched.get();
      sum.timed += entry.timed.get();
      sum.timed_ticks += entry.timed_ticks.get();
      sum.far_longer += entry.far_longer.get();
      sum.far_longer_ticks += entry.far_longer_ticks.get();
      sum.sampled += entry.sampled.get();
      sum.sampled_work += entry.sampled_work.get();
      for (size_t i = 0; i < sum.lengths.size(); ++i) sum.lengths[i] += entry.lengths[i].get();
    });
    const auto [node, regions] = record->ahead();
    if (node >= nodes) continue;
    all[node].count -= std::min<uint64_t>(all[node].count, regions);
    all[node].unwatched -= std::min<uint64_t>(all[node].unwatched, regions);
  }
  return all;
}

void subtract(std::vector<Sum>& all, const std::vector<Sum>& before) noexcept {
  // What contexts count ahead and take back may have been read in between.
  const auto less = [](uint64_t& number, uint64_t by) { number -= std::min(number, by); };
  for (size_t id = 0; id < std::min(all.size(), before.size()); ++id) {
    Sum& sum = all[id];
    const Sum& had = before[id];
    less(sum.count, had.count);
    less(sum.iterations, had.iterations);
    less(sum.pieces, had.pieces);
    less(sum.stolen, had.stolen);
    less(sum.unwatched, had.unwatched);
    less(sum.timed, had.timed);
    less(sum.timed_ticks, had.timed_ticks);
    less(sum.far_longer, had.far_longer);
    less(sum.far_longer_ticks, had.far_longer_ticks);
    less(sum.sampled, had.sampled);
    less(sum.sampled_work, had.sampled_work);
    for (size_t i = 0; i < sum.lengths.size(); ++i) less(sum.lengths[i], had.lengths[i]);
  }
}

double mean_ns(const Sum& sum) {
  // What is as long more often than so is the program's own.
  constexpr uint64_t kOneOf = 2000;
  const bool leaves_out = sum.unwatched > 0 && sum.far_longer * kOneOf <= sum.timed;
  const uint64_t pieces = leaves_out ? sum.timed - sum.far_longer : sum.timed;
  const uint64_t ticks = leaves_out ? sum.timed_ticks - sum.far_longer_ticks : sum.timed_ticks;
  return pieces > 0 ? static_cast<double>(ticks) * ns_per_tick() / static_cast<double>(pieces) : 0;
}

namespace {

// What it takes at most to get a chunk, in nanoseconds: members meet at one counter. The rest is work that no length
// tells of: a few chunks that are far longer than the others.
double most_for_a_chunk(const ConstructNode& region) noexcept {
  return 300 + 50.0 * region.members.load(std::memory_order_relaxed);
}

}  // namespace

std::vector<Unwatched> unwatched_of(const std::vector<Sum>& all, const ConstructTree& nodes) {
  std::vector<Unwatched> known(all.size());
  std::vector<bool> has_inner(all.size(), false);
  for (ConstructId id = 0; id < all.size(); ++id) {
    if (nodes[id].kind == Kind::region) has_inner[nodes[nodes[id].parent].region] = true;
  }
  for (ConstructId id = 0; id < all.size(); ++id) {
    const Sum& sum = all[id];
    const auto unwatched = static_cast<double>(sum.unwatched);
    if (nodes[id].kind != Kind::region) {
      if (sum.unwatched == 0) continue;
      known[id].work_ns = unwatched * mean_ns(sum);
      known[id].most_overhead_ns = unwatched * most_for_a_chunk(nodes[nodes[id].region]);
    } else if (sum.sampled > 0 && !has_inner[id]) {
      // Contexts of inner regions have worked too, and nobody has measured that.
      const double each = static_cast<double>(sum.sampled_work) * ns_per_tick() / static_cast<double>(sum.sampled);
      known[id].work_ns = unwatched * each;
    }
  }
  return known;
}

void scale(std::vector<Sum>& all, const ConstructTree& nodes) {
  std::vector<double> factors(all.size(), 1);
  for (ConstructId id = 1; id < all.size(); ++id) {
    const ConstructId parent = nodes[id].parent;
    const Sum& around = all[parent];
    factors[id] = factors[parent];
    if (nodes[parent].kind == Kind::region && around.unwatched > 0 && around.unwatched < around.count) {
      factors[id] *= static_cast<double>(around.count) / static_cast<double>(around.count - around.unwatched);
    }
    if (factors[id] == 1) continue;
    Sum& sum = all[id];
    for (uint64_t* number : {&sum.count, &sum.unwatched, &sum.iterations, &sum.pieces, &sum.stolen}) {
      *number = static_cast<uint64_t>(static_cast<double>(*number) * factors[id] + 0.5);
    }
  }
}

}  // namespace weft::observe
