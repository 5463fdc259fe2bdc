// SPDX-License-Identifier: Apache-2.0
// A set of small numbers, each of a carrier that can be called to work. The thread that takes a number out has claimed
// it: no carrier is called twice while others wait to be called once.
#pragma once

#include <algorithm>
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
//
// A word holds `PerWord` numbers. With fewer than 64 each word has a cache line of its own: many carriers come and go.
template <int N, int PerWord = 64>
class ClaimSet {
  static_assert(PerWord > 0 && PerWord <= 64);

 public:
  static constexpr bool is_valid(int number) noexcept { return number >= 0 && number < N; }

  // Returns whether the number was not in the set before.
  bool add(int number) noexcept { return (word(number).fetch_or(bit(number)) & bit(number)) == 0; }
  // A caller that sees the number out already has nothing to change; acquire, as if it had taken it out itself.
  bool remove(int number) noexcept {
    const bool in = (word(number).load(std::memory_order_acquire) & bit(number)) != 0;
    return in && (word(number).fetch_and(~bit(number)) & bit(number)) != 0;
  }

  // All below `size`.
  void add_all(int size) noexcept {
    assert(size == 0 || is_valid(size - 1));
    for (int at = 0; at * PerWord < size; ++at) {
      const int count = std::min(size - at * PerWord, PerWord);
      bits_at(at).fetch_or(count < 64 ? (uint64_t{1} << count) - 1 : ~uint64_t{0});
    }
  }
  void remove_all(int size) noexcept {
    for (int at = 0; at * PerWord < size; ++at) {
      std::atomic<uint64_t>& bits = bits_at(at);
      if (bits.load(std::memory_order_relaxed) != 0) bits.store(0);
    }
  }

  // Hints: relaxed, true of a moment that has passed.
  bool has(int number) const noexcept { return (word(number).load(std::memory_order_relaxed) & bit(number)) != 0; }
  // Whether none below `size` is in.
  bool empty(int size) const noexcept {
    uint64_t any = 0;
    for (int at = 0; at * PerWord < size; ++at) any |= bits_at(at).load(std::memory_order_relaxed);
    return any == 0;
  }

  // The first number below `size` that is in and fits, from `from` on, around the end; or -1.
  template <class Fits>
  int find(int from, int size, Fits&& fits) const noexcept {
    const int words = (size + PerWord - 1) / PerWord;
    const uint64_t behind = ~uint64_t{0} << (from % PerWord);
    // The word in which it begins is visited twice, for its upper and its lower part.
    for (int step = 0; step <= words; ++step) {
      const int at = from / PerWord + step < words ? from / PerWord + step : from / PerWord + step - words;
      uint64_t bits = bits_at(at).load();
      if (step == 0) bits &= behind;
      if (step == words) bits &= ~behind;
      for (; bits != 0; bits &= bits - 1) {
        const int number = at * PerWord + __builtin_ctzll(bits);
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
  struct alignas(PerWord < 64 ? 64 : alignof(std::atomic<uint64_t>)) Word {
    std::atomic<uint64_t> bits{0};
  };

  static uint64_t bit(int number) noexcept { return uint64_t{1} << (number % PerWord); }
  std::atomic<uint64_t>& bits_at(int word) noexcept { return words_[static_cast<size_t>(word)].bits; }
  const std::atomic<uint64_t>& bits_at(int word) const noexcept { return words_[static_cast<size_t>(word)].bits; }
  std::atomic<uint64_t>& word(int number) noexcept {
    assert(is_valid(number));
    return bits_at(number / PerWord);
  }
  const std::atomic<uint64_t>& word(int number) const noexcept {
    assert(is_valid(number));
    return bits_at(number / PerWord);
  }

  std::array<Word, (N + PerWord - 1) / PerWord> words_{};
};

}  // namespace weft::core
