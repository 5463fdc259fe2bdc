// SPDX-License-Identifier: Apache-2.0
// Consecutive numbers that one member takes one by one from the front, and others by halves from the back.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace weft::openmp {

// First in the low half, end in the high one. The value says everything, so compare-and-swap on it has no ABA problem.
// Relaxed throughout: a value is all that passes; what the numbers mean was published before.
// Two lines: processors fetch them in pairs, and neighbours take from theirs at the same time.
class alignas(128) ChunkRange {
 public:
  // Numbers are below this.
  static constexpr uint64_t kLimit = uint64_t{1} << 31;

  // By the member it belongs to, or before others know of it.
  void set(uint64_t first, uint64_t end) noexcept { range_.store(pack(first, end), std::memory_order_relaxed); }

  bool empty() const noexcept {
    const uint64_t seen = range_.load(std::memory_order_relaxed);
    return low_of(seen) >= high_of(seen);
  }

  bool take(uint64_t* number) noexcept {
    uint64_t end = 0;
    return take({}, number, &end);
  }

  // How many numbers are taken at once: half of what is left, within these bounds.
  struct Bounds {
    uint64_t least = 1;
    uint64_t most = 1;

    constexpr uint64_t of(uint64_t left) const noexcept { return std::min(std::clamp(left / 2, least, most), left); }
  };

  // Numbers *first .. *end-1.
  bool take(Bounds at_once, uint64_t* first, uint64_t* end) noexcept {
    uint64_t seen = range_.load(std::memory_order_relaxed);
    uint64_t part = 0;
    do {
      if (low_of(seen) >= high_of(seen)) return false;
      part = at_once.of(high_of(seen) - low_of(seen));
    } while (!range_.compare_exchange_weak(seen, seen + part, std::memory_order_relaxed));
    *first = low_of(seen);
    *end = low_of(seen) + part;
    return true;
  }

  // The larger half of what is left.
  bool take_half(uint64_t* first, uint64_t* end) noexcept {
    uint64_t seen = range_.load(std::memory_order_relaxed);
    while (low_of(seen) < high_of(seen)) {
      const uint64_t middle = high_of(seen) - (high_of(seen) - low_of(seen) + 1) / 2;
      if (!range_.compare_exchange_weak(seen, pack(low_of(seen), middle), std::memory_order_relaxed)) continue;
      *first = middle;
      *end = high_of(seen);
      return true;
    }
    return false;
  }

  // ---- of a group, whose members take from the front and fill it again (chunk_groups.h). At first `unfilled` ----

  enum class Found : uint8_t {
    some,      // there are more
    last,      // the member that has taken them fills the range, or says that it is unfilled
    unfilled,  // a member that finds it so by take_some() fills it
    filled,    // a member is about to do so
    over,      // there will be no more
  };

  // Up to `most` numbers *first .. *end-1. One update and no look before, which would fetch the line once more: what it
  // adds to an empty range says nothing but that it is not unfilled any more, and goes when that is filled.
  Found take_some(uint64_t most, uint64_t* first, uint64_t* end) noexcept {
    const uint64_t seen = range_.fetch_add(most, std::memory_order_relaxed);
    *first = low_of(seen);
    *end = std::min(low_of(seen) + most, high_of(seen));
    if (low_of(seen) >= high_of(seen)) return kind_of_empty(seen);
    return *end < high_of(seen) ? Found::some : Found::last;
  }
  // As it is now, and the first number that is there.
  Found look(uint64_t* first) const noexcept {
    const uint64_t seen = range_.load(std::memory_order_relaxed);
    *first = low_of(seen);
    return low_of(seen) < high_of(seen) ? Found::some : kind_of_empty(seen);
  }
  void set_unfilled() noexcept { range_.store(0, std::memory_order_relaxed); }
  void set_over() noexcept { range_.store(kLimit, std::memory_order_relaxed); }
  bool is_over() const noexcept {
    uint64_t first = 0;
    return look(&first) == Found::over;
  }

  // Members of the group that have left the loop (worksharing.cpp).
  std::atomic<int> left{0};

  // For a caller that only wants to know whether something has been taken.
  const std::atomic<uint64_t>& word() const noexcept { return range_; }

 private:
  static constexpr uint64_t pack(uint64_t low, uint64_t high) noexcept { return low | (high << 32); }
  static constexpr Found kind_of_empty(uint64_t range) noexcept {
    if (range == 0) return Found::unfilled;
    return high_of(range) == 0 && low_of(range) >= kLimit ? Found::over : Found::filled;
  }

  static constexpr uint64_t low_of(uint64_t range) noexcept { return range & 0xffffffffu; }
  static constexpr uint64_t high_of(uint64_t range) noexcept { return range >> 32; }

  std::atomic<uint64_t> range_{0};
};

}  // namespace weft::openmp
