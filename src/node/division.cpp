// SPDX-License-Identifier: Apache-2.0
#include "node/division.h"

#include <algorithm>

namespace weft::node {

namespace {

// Steps that a division may take; with more CPUs than that each step gives away more than one.
constexpr int kMostSteps = 512;
constexpr int kMostParts = 16;

}  // namespace

int Division::Class::users_count() const noexcept {
  int count = 0;
  for (const uint64_t word : users) count += __builtin_popcountll(word);
  return count;
}

// Class 0 is that of the CPUs nobody uses.
void Division::begin() noexcept {
  class_of_.fill(0);
  classes_[0] = Class{};
  class_count_ = 1;
}

void Division::refine(int process, const platform::CpuSet& cpus) noexcept {
  std::array<int, kMostClasses> split;
  split.fill(-1);
  const int before = class_count_;
  for (const int cpu : platform::each(cpus)) {
    const int old = class_of_[cpu];
    if (old >= before) continue;
    if (split[old] < 0) {
      if (class_count_ == kMostClasses) continue;
      split[old] = class_count_++;
      Class& fresh = classes_[split[old]];
      fresh = classes_[old];
      fresh.cpus = 0;
      fresh.users[process / 64] |= uint64_t{1} << (process % 64);
    }
    class_of_[cpu] = static_cast<uint8_t>(split[old]);
    --classes_[old].cpus;
    ++classes_[split[old]].cpus;
  }
}

// The class with room whose CPUs the fewest others may use: a process that has a choice leaves the others the CPUs that
// they alone can use.
int Division::class_for(int process) const noexcept {
  int best = -1;
  int fewest = 0;
  for (int i = 1; i < class_count_; ++i) {
    const Class& candidate = classes_[i];
    if (candidate.room <= 0 || !candidate.has(process)) continue;
    const int users = candidate.users_count();
    if (best >= 0 && users >= fewest) continue;
    best = i;
    fewest = users;
  }
  return best;
}

// One part after the other goes to the process that has least for its weight.
void Division::fill(const Demand* demands, int count) noexcept {
  int cpus = 0;
  for (int i = 1; i < class_count_; ++i) cpus += classes_[i].cpus;
  parts_ = std::clamp(kMostSteps / std::max(cpus, 1), 1, kMostParts);
  for (int i = 1; i < class_count_; ++i) classes_[i].room = classes_[i].cpus * parts_;
  std::fill_n(got_.begin(), count, 0);
  // Whatever they say: nobody can use more CPUs than there are, and weights have bounds, so that nothing overflows.
  const auto wanted = [&](int i) { return std::clamp(demands[i].wanted, 0, cpus) * parts_; };
  const auto weight = [&](int i) { return int64_t{std::clamp(demands[i].weight, 1, kMostWeight)}; };
  std::array<bool, kMostProcesses> full{};
  for (;;) {
    int next = -1;
    for (int i = 0; i < count; ++i) {
      if (full[i] || got_[i] >= wanted(i)) continue;
      if (next < 0 || got_[i] * weight(next) < got_[next] * weight(i)) next = i;
    }
    if (next < 0) return;
    const int from = class_for(next);
    if (from < 0) {
      full[next] = true;
      continue;
    }
    ++got_[next];
    --classes_[from].room;
  }
}

bool Division::pressed(const Demand* demands, int count, int process) const noexcept {
  for (int i = 1; i < class_count_; ++i) {
    const Class& shared = classes_[i];
    if (shared.cpus == 0 || !shared.has(process)) continue;
    for (int other = 0; other < count; ++other) {
      if (other != process && demands[other].missing && shared.has(other)) return true;
    }
  }
  return false;
}

// Systematic sampling: the parts stand in a row, and a process whose stretch holds a whole number, moved by the phase,
// gets a CPU for it. So the sum is what there is, and no process is more than one off.
void Division::round(Demand* demands, int count, uint32_t phase) noexcept {
  const uint64_t shift = (uint64_t{phase & 0xffff} * static_cast<uint64_t>(parts_)) >> 16;
  uint64_t sum = shift;
  for (int i = 0; i < count; ++i) {
    const uint64_t before = sum / static_cast<uint64_t>(parts_);
    sum += static_cast<uint64_t>(got_[i]);
    demands[i].due = static_cast<int>(sum / static_cast<uint64_t>(parts_) - before);
    demands[i].pressed = pressed(demands, count, i);
  }
}

}  // namespace weft::node
