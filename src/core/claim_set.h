// SPDX-License-Identifier: Apache-2.0
// A set of small numbers, each of somebody who can be called to work. Whoever takes a number out has claimed it: nobody
// is called twice while others wait to be called once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace weft::core {

// Sequentially consistent, all but the hints: who adds itself fences and then looks for work, who has made work fences
// and then looks here, so one of the two sees the other.
//
// A number is counted before it is in and until it is out: the count is never less than what is in. So who sees an
// empty set, which it is at that moment, need not look at the words: whoever is in has come later, and looks for work
// later.
template <int N>
class ClaimSet {
 public:
  // Whether that has changed anything.
  bool add(int number) noexcept {
    count_.fetch_add(1);
    const bool added = (word(number).fetch_or(bit(number)) & bit(number)) == 0;
    if (!added) count_.fetch_sub(1);
    return added;
  }
  bool remove(int number) noexcept {
    const bool removed = (word(number).fetch_and(~bit(number)) & bit(number)) != 0;
    if (removed) count_.fetch_sub(1);
    return removed;
  }

  // All below `size`.
  void add_all(int size) noexcept {
    for (int at = 0; at * 64 < size; ++at) {
      const uint64_t wanted = size - at * 64 < 64 ? bit(size) - 1 : ~uint64_t{0};
      count_.fetch_add(__builtin_popcountll(wanted));
      const uint64_t before = words_[static_cast<size_t>(at)].fetch_or(wanted);
      if (before != 0) count_.fetch_sub(__builtin_popcountll(wanted & before));
    }
  }
  void remove_all(int size) noexcept {
    for (int at = 0; at * 64 < size; ++at) {
      if (words_[static_cast<size_t>(at)].load(std::memory_order_relaxed) == 0) continue;
      count_.fetch_sub(__builtin_popcountll(words_[static_cast<size_t>(at)].exchange(0)));
    }
  }

  // Hints: relaxed, true of a moment that has passed.
  bool has(int number) const noexcept { return (word(number).load(std::memory_order_relaxed) & bit(number)) != 0; }
  bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

  // Takes out a number below `size` that fits, the first from `from` on, around the end; or -1.
  template <class Fits>
  int take(int from, int size, Fits&& fits) noexcept {
    const int words = (size + 63) / 64;
    const uint64_t behind = ~uint64_t{0} << (from % 64);
    // The word in which it begins is visited twice, for its upper and its lower part.
    for (int step = 0; step <= words; ++step) {
      const int at = from / 64 + step < words ? from / 64 + step : from / 64 + step - words;
      uint64_t bits = words_[static_cast<size_t>(at)].load();
      if (step == 0) bits &= behind;
      if (step == words) bits &= ~behind;
      for (; bits != 0; bits &= bits - 1) {
        const int number = at * 64 + __builtin_ctzll(bits);
        if (number < size && fits(number) && remove(number)) return number;
      }
    }
    return -1;
  }

 private:
  static uint64_t bit(int number) noexcept { return uint64_t{1} << (number % 64); }
  std::atomic<uint64_t>& word(int number) noexcept { return words_[static_cast<size_t>(number / 64)]; }
  const std::atomic<uint64_t>& word(int number) const noexcept { return words_[static_cast<size_t>(number / 64)]; }

  std::atomic<int> count_{0};
  std::array<std::atomic<uint64_t>, (N + 63) / 64> words_{};
};

}  // namespace weft::core
