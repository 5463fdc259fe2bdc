// SPDX-License-Identifier: Apache-2.0
// A set of small numbers, each of a carrier that can be called to work. The thread that takes a number out has claimed
// it: no carrier is called twice while others wait to be called once.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>

namespace weft::core {

// Sequentially consistent, all but the hints. A carrier that adds itself fences and then looks for work; a thread that
// has made work fences and then looks here. So one of the two sees the other.
//
// Nothing but the bits says which numbers are in: a count beside them would cost each call two more updates of a line
// that all carriers share.
template <int N>
class ClaimSet {
 public:
  static constexpr bool is_valid(int number) noexcept { return number >= 0 && number < N; }

  // Whether that has changed anything.
  bool add(int number) noexcept { return (word(number).fetch_or(bit(number)) & bit(number)) == 0; }
  // A caller that sees the number out already has nothing to change; acquire, as if it had taken it out itself.
  bool remove(int number) noexcept {
    const bool in = (word(number).load(std::memory_order_acquire) & bit(number)) != 0;
    return in && (word(number).fetch_and(~bit(number)) & bit(number)) != 0;
  }

  // All below `size`.
  void add_all(int size) noexcept {
    assert(size == 0 || is_valid(size - 1));
    for (int at = 0; at * 64 < size; ++at) {
      words_[static_cast<size_t>(at)].fetch_or(size - at * 64 < 64 ? bit(size) - 1 : ~uint64_t{0});
    }
  }
  void remove_all(int size) noexcept {
    for (int at = 0; at * 64 < size; ++at) {
      std::atomic<uint64_t>& bits = words_[static_cast<size_t>(at)];
      if (bits.load(std::memory_order_relaxed) != 0) bits.store(0);
    }
  }

  // Hints: relaxed, true of a moment that has passed.
  bool has(int number) const noexcept { return (word(number).load(std::memory_order_relaxed) & bit(number)) != 0; }
  // Whether none below `size` is in.
  bool empty(int size) const noexcept {
    uint64_t any = 0;
    for (int at = 0; at * 64 < size; ++at) any |= words_[static_cast<size_t>(at)].load(std::memory_order_relaxed);
    return any == 0;
  }

  // The first number below `size` that is in and fits, from `from` on, around the end; or -1.
  template <class Fits>
  int find(int from, int size, Fits&& fits) const noexcept {
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
        if (number < size && fits(number)) return number;
      }
    }
    return -1;
  }

  // Takes out a number below `size` that fits, the first from `from` on, around the end; or -1.
  template <class Fits>
  int take(int from, int size, Fits&& fits) noexcept {
    return find(from, size, [&](int number) { return fits(number) && remove(number); });
  }

 private:
  static uint64_t bit(int number) noexcept { return uint64_t{1} << (number % 64); }
  std::atomic<uint64_t>& word(int number) noexcept {
    assert(is_valid(number));
    return words_[static_cast<size_t>(number / 64)];
  }
  const std::atomic<uint64_t>& word(int number) const noexcept {
    assert(is_valid(number));
    return words_[static_cast<size_t>(number / 64)];
  }

  std::array<std::atomic<uint64_t>, (N + 63) / 64> words_{};
};

}  // namespace weft::core
