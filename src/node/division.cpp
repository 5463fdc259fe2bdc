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

// Divides each class into the CPUs that the process may use and the others. Most often it may use all of a class, or
// none.
void Division::refine(int process, const platform::CpuSet& cpus) noexcept {
  std::array<int, kMostClasses> common{};
  for (const int cpu : platform::each(cpus)) ++common[class_of_[cpu]];
  std::array<int, kMostClasses> becomes;
  const int before = class_count_;
  for (int i = 0; i < before; ++i) {
    becomes[i] = i;
    const bool splits = i == 0 || common[i] < classes_[i].cpus;
    if (common[i] == 0 || (splits && class_count_ == kMostClasses)) continue;
    if (splits) {
      becomes[i] = class_count_++;
      classes_[becomes[i]] = classes_[i];
      classes_[becomes[i]].cpus = common[i];
      classes_[i].cpus -= common[i];
    }
    classes_[becomes[i]].users[process / 64] |= uint64_t{1} << (process % 64);
  }
  if (class_count_ == before) return;
  for (const int cpu : platform::each(cpus)) class_of_[cpu] = static_cast<uint8_t>(becomes[class_of_[cpu]]);
}

void Division::end() noexcept {
  std::array<int, kMostClasses> users;
  order_count_ = 0;
  cpus_ = 0;
  for (int i = 1; i < class_count_; ++i) {
    if (classes_[i].cpus == 0) continue;
    cpus_ += classes_[i].cpus;
    users[i] = classes_[i].users_count();
    order_[order_count_++] = static_cast<uint8_t>(i);
  }
  std::sort(order_.begin(), order_.begin() + order_count_,
            [&](int a, int b) { return users[a] != users[b] ? users[a] < users[b] : a < b; });
}

// The class with room whose CPUs the fewest others may use: a process that has a choice leaves the others the CPUs that
// they alone can use. Room only shrinks while processes are filled, so a class that is passed over is so for good.
Division::Class* Division::class_for(int process) noexcept {
  for (int& next = shares_[process].next_class; next < order_count_; ++next) {
    Class& candidate = classes_[order_[next]];
    if (candidate.room > 0 && candidate.has(process)) return &candidate;
  }
  return nullptr;
}

// Whether `process` has less for its weight than `other`; of two that have the same, the first comes before.
bool Division::comes_before(int process, int other) const noexcept {
  const Share& one = shares_[process];
  const Share& two = shares_[other];
  const int64_t mine = one.got * two.weight;
  const int64_t theirs = two.got * one.weight;
  return mine != theirs ? mine < theirs : process < other;
}

void Division::sink(int at) noexcept {
  const int process = heap_[at];
  for (;;) {
    int child = 2 * at + 1;
    if (child >= heap_count_) break;
    if (child + 1 < heap_count_ && comes_before(heap_[child + 1], heap_[child])) ++child;
    if (!comes_before(heap_[child], process)) break;
    heap_[at] = heap_[child];
    at = child;
  }
  heap_[at] = process;
}

// One part after the other goes to the process that has least for its weight.
void Division::fill(const Demand* demands) noexcept {
  parts_ = std::clamp(kMostSteps / std::max(cpus_, 1), 1, kMostParts);
  for (int i = 0; i < order_count_; ++i) classes_[order_[i]].room = classes_[order_[i]].cpus * parts_;
  heap_count_ = 0;
  for (int i = 0; i < count_; ++i) {
    // Whatever they say: nobody can use more CPUs than there are, and weights have bounds, so that nothing overflows.
    shares_[i] = {.weight = std::clamp(demands[i].weight, 1, kMostWeight),
                  .wanted = std::clamp(demands[i].wanted, 0, cpus_) * parts_};
    // No process has got anything yet, so any order of them is a heap.
    if (shares_[i].wanted > 0) heap_[heap_count_++] = i;
  }
  for (int left = cpus_ * parts_; left > 0 && heap_count_ > 0;) {
    const int next = heap_[0];
    Share& share = shares_[next];
    Class* const from = class_for(next);
    if (from != nullptr) {
      --from->room;
      --left;
      ++share.got;
    }
    if (from == nullptr || share.got == share.wanted) heap_[0] = heap_[--heap_count_];
    if (heap_count_ > 0) sink(0);
  }
}

// A process is pressed when another one misses CPUs of a class that both may use.
void Division::press(Demand* demands) const noexcept {
  std::array<uint64_t, kMostProcesses / 64> missing{};
  for (int i = 0; i < count_; ++i) missing[i / 64] |= uint64_t{demands[i].missing} << (i % 64);
  std::array<uint64_t, kMostProcesses / 64> pressed{};
  for (int i = 0; i < order_count_; ++i) {
    const Class& shared = classes_[order_[i]];
    int others = 0;
    for (size_t k = 0; k < missing.size(); ++k) others += __builtin_popcountll(missing[k] & shared.users[k]);
    if (others == 0) continue;
    // If only one process misses CPUs of the class, it presses all users but itself.
    for (size_t k = 0; k < missing.size(); ++k)
      pressed[k] |= shared.users[k] & (others == 1 ? ~missing[k] : ~uint64_t{0});
  }
  for (int i = 0; i < count_; ++i) demands[i].pressed = (pressed[i / 64] >> (i % 64) & 1) != 0;
}

// Systematic sampling: the parts stand in a row, and a process whose stretch holds a whole number, moved by the phase,
// gets a CPU for it. So the sum is what there is, and no process is more than one off.
void Division::round(Demand* demands, uint32_t phase) noexcept {
  const uint64_t shift = (uint64_t{phase & 0xffff} * static_cast<uint64_t>(parts_)) >> 16;
  uint64_t sum = shift;
  for (int i = 0; i < count_; ++i) {
    const uint64_t before = sum / static_cast<uint64_t>(parts_);
    sum += static_cast<uint64_t>(shares_[i].got);
    demands[i].due = static_cast<int>(sum / static_cast<uint64_t>(parts_) - before);
  }
  press(demands);
}

}  // namespace weft::node
