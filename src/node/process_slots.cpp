// SPDX-License-Identifier: Apache-2.0
// How a process takes slots and gives them back, and how a process that lacks slots hears of those that are freed.
//
// A process that has less than it is due, and wants more, first sets its bit in `lacking` and then looks for free
// slots. A process that frees a slot then reads `lacking`. If a bit is set, it counts `freed` up and rings a process
// whose bit is set. A full fence stands between the two steps on both sides: either the look finds the slot, or the
// process that has freed it sees the bit. So while its bit is set and `freed` stands still, a process need not look
// again. A process may be killed before it can count. So all look at the slots every 16 ticks all the same.
#include <algorithm>
#include <utility>

#include "node/process.h"
#include "platform/fence.h"

namespace weft::node {

namespace {

// Spreads numbers that follow each other.
constexpr int kPrime = 7;

bool may_use(const Record& record, int cpu) noexcept {
  return (record.cpus[static_cast<size_t>(cpu) / 64].load(std::memory_order_relaxed) >> (cpu % 64) & 1) != 0;
}

}  // namespace

// As many slots as lie on a cache line of the segment.
constexpr int kSlotsOfALine = 8;

int Process::wrapped(int slot) const noexcept {
  const int found = cpus_.next(slot < cpus_end_ ? slot : 0);
  return found >= 0 ? found : cpus_begin_;
}

// Each process begins elsewhere, so that those that come at the same time do not look at the same words.
int Process::first_look() const noexcept {
  const int lines = (cpus_end_ - cpus_begin_) / kSlotsOfALine;
  return lines <= 1 ? cpus_begin_ : wrapped(cpus_begin_ + number_ * kPrime % lines * kSlotsOfALine);
}

// Each thread of a process begins on another cache line, too.
int Process::next_start() noexcept {
  const int start = next_.load(std::memory_order_relaxed);
  if (cpus_end_ - cpus_begin_ > kSlotsOfALine) next_.store(wrapped(start + kSlotsOfALine), std::memory_order_relaxed);
  return start;
}

uint64_t Process::next_look() const noexcept {
  // Acquire, both: the look at the slots comes after. A slot that `freed` has counted is seen free.
  const uint32_t lacks = lacks_.load(std::memory_order_acquire);
  return uint64_t{lacks} << 32 | segment_->layout().header.freed.load(std::memory_order_acquire);
}

// Whether a look like `look` was in vain already. Relaxed: `vain_` is one word, and a look that is repeated harms
// nobody.
bool Process::nothing_was_freed(uint64_t look) const noexcept {
  return (look >> 32) % 2 != 0 && vain_.load(std::memory_order_relaxed) == look;
}

int Process::take() noexcept {
  if (held() >= bound()) return -1;
  const uint64_t look = next_look();
  if (nothing_was_freed(look) || !reserve()) return -1;
  const bool lacks = (look >> 32) % 2 != 0;
  const uint32_t freed = segment_->layout().header.freed_slot.load(std::memory_order_relaxed);
  const int first = lacks && freed < platform::CpuSet::kMost && cpus_.has(static_cast<int>(freed))
                        ? static_cast<int>(freed)
                        : next_start();
  int slot = first;
  do {
    std::atomic<Owner>& word = slot_word(slot);
    Owner nobody = 0;
    if (word.load(std::memory_order_relaxed) == 0 && word.compare_exchange_strong(nobody, owner_)) {
      beat();
      return slot;
    }
    slot = wrapped(slot + 1);
  } while (slot != first);
  held_.add(-1);
  vain_.store(look, std::memory_order_relaxed);
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

// How many slots the process may have now.
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
  const bool rung = ring_one_that_lacks(slot);
  if ((me_.terms.load(std::memory_order_relaxed) & kByOthers) == 0) return;
  // Where several threads of the process count at once, one count is lost.
  add(me_.given, 1);
  if (rung) return;
  // All processes have what they are due. With this slot free they may be due more.
  wish_has_changed();
  divider_.announce(true);
}

bool Process::owns(int slot) const noexcept { return slot_word(slot).load(std::memory_order_relaxed) == owner_; }

int Process::take_away() noexcept {
  if (!reserve()) return -1;
  int slot = take_from([this](int owner) { return is_over(owner); });
  if (slot < 0 && leads_to_a_free_slot(cpus_)) {
    slot = take_from([this](int owner) { return leads_to_a_free_slot(cpus_of(record(owner))); });
  }
  if (slot < 0) held_.add(-1);
  return slot;
}

// Takes a slot that is free, or whose owner may lose it: may_lose(number), by the number of its record. -1: none.
template <class MayLose>
int Process::take_from(MayLose&& may_lose) noexcept {
  // Each owner is asked about once: it may have many slots.
  enum : uint8_t { unknown, yes, no };
  std::array<uint8_t, kMostProcesses> answers{};
  const auto may = [&](int number) {
    uint8_t& answer = answers[static_cast<size_t>(number)];
    if (answer == unknown) answer = may_lose(number) ? yes : no;
    return answer == yes;
  };
  const int first = next_start();
  int slot = first;
  do {
    std::atomic<Owner>& word = slot_word(slot);
    Owner owner = word.load(std::memory_order_relaxed);
    const int number = record_of(owner);
    const bool free = owner == 0 || (owner != owner_ && number >= 0 && may(number));
    if (free && word.compare_exchange_strong(owner, owner_)) {
      if (owner != 0) node::ring(record(number));
      return slot;
    }
    slot = wrapped(slot + 1);
  } while (slot != first);
  return -1;
}

bool Process::is_over(int number) const noexcept {
  const Record& other = record(number);
  const uint32_t terms = other.terms.load(std::memory_order_relaxed);
  return (terms & kPressed) != 0 && static_cast<int>(other.held.load(std::memory_order_relaxed)) > due_of(terms);
}

// Whether one of `slots` is free, or can become free by a chain of moves: its owner takes another slot, whose owner
// takes another one, and so on, until one is free. Where CPU masks overlap, the free slot may be of no use to the
// process that asks. Each slot and each owner is looked at once.
bool Process::leads_to_a_free_slot(const platform::CpuSet& slots) const noexcept {
  std::array<bool, kMostProcesses> followed{};
  platform::CpuSet fresh = slots;
  platform::CpuSet seen = fresh;
  const size_t words = words_in_use();
  const auto* const seen_words = static_cast<const uint64_t*>(seen.data());
  while (!fresh.empty()) {
    platform::CpuSet reach;
    auto* const reach_words = static_cast<uint64_t*>(reach.data());
    for (const int slot : platform::each(fresh)) {
      const Owner owner = slot_word(slot).load(std::memory_order_relaxed);
      if (owner == 0) return true;
      const int other = record_of(owner);
      if (other < 0 || std::exchange(followed[static_cast<size_t>(other)], true)) continue;
      const Record& cpus = record(other);
      for (size_t i = 0; i < words; ++i)
        reach_words[i] |= cpus.cpus[i].load(std::memory_order_relaxed) & ~seen_words[i];
    }
    seen.add_all(reach);
    fresh = reach;
  }
  return false;
}

// How many words of a set of CPUs are in use: all slots in the words behind them are free.
size_t Process::words_in_use() const noexcept {
  constexpr uint32_t kMost = platform::CpuSet::kMost;
  const uint32_t top = std::min(segment_->layout().header.top_cpu.load(std::memory_order_relaxed), kMost);
  return (std::max<size_t>(top, static_cast<size_t>(cpus_end_)) + 63) / 64;
}

// Rings a process that lacks slots and could have `slot`, which the caller has freed before a full fence. Such
// processes are rung one after the other, so that none is passed over for good. Returns whether one was rung.
bool Process::ring_one_that_lacks(int slot) noexcept {
  Header& header = segment_->layout().header;
  const auto next = [&](int from) {
    for (int i = from; i < kMostProcesses; i = (i / 64 + 1) * 64) {
      const uint64_t bits = header.lacking[static_cast<size_t>(i) / 64].load() >> (i % 64);
      if (bits != 0) return i + __builtin_ctzll(bits);
    }
    return kMostProcesses;
  };
  int number = next(0);
  if (number == kMostProcesses) return false;
  header.freed_slot.store(static_cast<uint32_t>(slot), std::memory_order_relaxed);
  header.freed.fetch_add(1, std::memory_order_release);
  const int last = static_cast<int>(header.rung.load(std::memory_order_relaxed) % kMostProcesses);
  for (number = next(last + 1); number < kMostProcesses && !is_lacking(number, slot);) number = next(number + 1);
  if (number == kMostProcesses) {
    for (number = next(0); number <= last && !is_lacking(number, slot);) number = next(number + 1);
    if (number > last) return false;
  }
  header.rung.store(static_cast<uint32_t>(number), std::memory_order_relaxed);
  node::ring(record(number));
  return true;
}

// Whether process `number`, whose bit is set, still lacks slots and could have this one. Relaxed: what the process had
// written before it set its bit is seen with the bit, and it looks for slots itself when its terms get better.
bool Process::is_lacking(int number, int slot) const noexcept {
  const Record& other = record(number);
  if (number == number_ || other.serial.load(std::memory_order_relaxed) == 0) return false;
  if (other.missing.load(std::memory_order_relaxed) == 0 || !may_use(other, slot)) return false;
  const uint32_t terms = other.terms.load(std::memory_order_relaxed);
  return static_cast<int>(other.held.load(std::memory_order_relaxed)) < due_of(terms);
}

// Notes the wish in `announced_`, and returns whether it is another one than before. Several threads may do so at the
// same time. Sequentially consistent: the thread that writes last looks once more after that, so the last wish stays.
bool Process::wish_has_changed() noexcept {
  bool changed = false;
  int now;
  do {
    now = wish();
    changed |= announced_.exchange(now) != now;
    platform::full_fence_after_update();
  } while (wish() != now);
  return changed;
}

void Process::want(int missing) noexcept {
  const int before = missing_.exchange(missing);
  if (missing == 0 && before == 0 && !pressed()) {
    announced_.store(kNothingAnnounced, std::memory_order_relaxed);
    return;
  }
  beat();
  if (wish_has_changed()) divider_.announce(false);
  divider_.look();
  say_whether_lacking();
}

// Sets or clears this process's bit in `lacking`. The bit is read each time, since another process may have written
// over it. Relaxed, as `lacks_`: only this process uses them; two threads in here at the same time may leave the bit
// and `lacks_` different until the next tick.
void Process::say_whether_lacking() noexcept {
  std::atomic<uint64_t>& word = segment_->layout().header.lacking[static_cast<size_t>(number_) / 64];
  const uint64_t bit = uint64_t{1} << (number_ % 64);
  const bool lacks = missing() > 0 && held() < bound();
  const uint32_t said = lacks_.load(std::memory_order_relaxed);
  if ((said % 2 != 0) == lacks && ((word.load(std::memory_order_relaxed) & bit) != 0) == lacks) return;
  if (lacks) {
    word.fetch_or(bit);
  } else {
    word.fetch_and(~bit);
  }
  // Where `lacks_` was right already (another process had written over the bit) it goes two numbers on, so that looks
  // before this moment do not count as in vain. Release: a look that reads `lacks_` comes after the bit.
  lacks_.store(said + ((said % 2 != 0) == lacks ? 2 : 1), std::memory_order_release);
  // The fence between the bit and the look at the slots, which the caller makes next.
  platform::full_fence();
}

}  // namespace weft::node
