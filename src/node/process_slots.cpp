// SPDX-License-Identifier: Apache-2.0
// How a process takes slots and gives them back.
#include <algorithm>
#include <utility>

#include "node/process.h"
#include "platform/fence.h"

namespace weft::node {

namespace {

bool may_use(const Record& record, int cpu) noexcept {
  return (record.cpus[static_cast<size_t>(cpu) / 64].load(std::memory_order_relaxed) >> (cpu % 64) & 1) != 0;
}

}  // namespace

int Process::take() noexcept {
  if (!reserve()) return -1;
  const int first = next_.load(std::memory_order_relaxed);
  int slot = first;
  do {
    std::atomic<Owner>& word = slot_word(slot);
    Owner nobody = 0;
    if (word.load(std::memory_order_relaxed) == 0 && word.compare_exchange_strong(nobody, owner_)) {
      beat();
      return slot;
    }
    slot = cpus_.next(slot + 1);
    if (slot < 0) slot = cpus_.first();
  } while (slot != first);
  held_.add(-1);
  return -1;
}

int Process::count_free(int most) const noexcept {
  const int wanted = std::min(most, bound() - held());
  int found = 0;
  for (int cpu = cpus_.first(); cpu >= 0 && found < wanted; cpu = cpus_.next(cpu + 1)) {
    found += slot_word(cpu).load(std::memory_order_relaxed) == 0 ? 1 : 0;
  }
  return found;
}

// How many the process may have as things are.
int Process::bound() const noexcept {
  if (left_.load(std::memory_order_relaxed)) return 0;
  const uint32_t terms = me_.terms.load(std::memory_order_relaxed);
  return (terms & kPressed) != 0 ? std::min(most_, due_of(terms)) : most_;
}

// Counts one more slot, if there may be one.
bool Process::reserve() noexcept { return held_.add_one_below(bound()); }

void Process::give(int slot) noexcept {
  Owner mine = owner_;
  const bool had = slot_word(slot).compare_exchange_strong(mine, 0);
  held_.add(-1);
  if (!had) return;
  next_.store(slot, std::memory_order_relaxed);
  platform::full_fence_after_update();
  // Several threads of the process may count at once, and then one of them is lost.
  if (pressed() && ring_neediest(slot)) add(me_.given, 1);
}

bool Process::owns(int slot) const noexcept { return slot_word(slot).load(std::memory_order_relaxed) == owner_; }

int Process::take_away() noexcept {
  if (!reserve()) return -1;
  int slot = take_from([this](int owner) { return is_over(owner); });
  if (slot < 0) slot = take_from([this](int owner) { return could_move(owner); });
  if (slot < 0) held_.add(-1);
  return slot;
}

// A slot that is free or whose owner, by number, is one that `may_lose` it.
template <class MayLose>
int Process::take_from(MayLose&& may_lose) noexcept {
  for (const int slot : platform::each(cpus_)) {
    std::atomic<Owner>& word = slot_word(slot);
    Owner owner = word.load(std::memory_order_relaxed);
    const int number = record_of(owner);
    if (owner == owner_ || (owner != 0 && (number < 0 || !may_lose(number)))) continue;
    if (!word.compare_exchange_strong(owner, owner_)) continue;
    if (owner != 0) node::ring(record(number));
    return slot;
  }
  return -1;
}

bool Process::is_over(int number) const noexcept {
  const Record& other = record(number);
  const uint32_t terms = other.terms.load(std::memory_order_relaxed);
  return (terms & kPressed) != 0 && static_cast<int>(other.held.load(std::memory_order_relaxed)) > due_of(terms);
}

// Whether there is a free slot for it instead, or one whose owner can move on in the same way. The process that asks
// may be the only one that has no other CPU. Each CPU is looked at once, and so is each owner.
bool Process::could_move(int number) const noexcept {
  std::array<bool, kMostProcesses> followed{};
  followed[static_cast<size_t>(number)] = true;
  platform::CpuSet fresh = cpus_of(record(number));
  platform::CpuSet seen = fresh;
  while (!fresh.empty()) {
    platform::CpuSet reach;
    for (const int slot : platform::each(fresh)) {
      const Owner owner = slot_word(slot).load(std::memory_order_relaxed);
      if (owner == 0) return true;
      const int other = record_of(owner);
      if (other < 0 || std::exchange(followed[static_cast<size_t>(other)], true)) continue;
      reach.add_all(cpus_of(record(other)));
    }
    reach.remove_all(seen);
    seen.add_all(reach);
    fresh = reach;
  }
  return false;
}

bool Process::ring_neediest(int slot) noexcept {
  const int records = live_records();
  int neediest = -1;
  int most = 0;
  for (int i = 0; i < records; ++i) {
    const Record& other = record(i);
    if (i == number_ || other.serial.load(std::memory_order_relaxed) == 0) continue;
    if (other.missing.load() == 0 || !may_use(other, slot)) continue;
    const int lacks = due_of(other.terms.load(std::memory_order_relaxed)) -
                      static_cast<int>(other.held.load(std::memory_order_relaxed));
    if (neediest >= 0 && lacks <= most) continue;
    neediest = i;
    most = lacks;
  }
  if (neediest >= 0) node::ring(record(neediest));
  return neediest >= 0;
}

}  // namespace weft::node
