// SPDX-License-Identifier: Apache-2.0
// The words of a store's memory. A reader copies while a writer may write, and finds that out afterwards. So each word
// is read and written by a relaxed atomic operation; the callers make the order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace weft::shm {

template <class Ops>
class Words {
 public:
  using Word = typename Ops::template Atomic<uint64_t>;

  explicit Words(void* memory) noexcept : memory_(static_cast<char*>(memory)) {}

  // `position` is a multiple of 8.
  Word& at(uint64_t position) const noexcept { return *reinterpret_cast<Word*>(memory_ + position); }
  uint64_t load(uint64_t position) const noexcept { return at(position).load(std::memory_order_relaxed); }
  void store(uint64_t position, uint64_t value) const noexcept { at(position).store(value, std::memory_order_relaxed); }

  void copy_in(uint64_t position, const void* from, uint64_t bytes) const noexcept {
    for_each_word(position, bytes, [&](uint64_t at, uint64_t done, uint64_t part) {
      uint64_t word = 0;
      std::memcpy(&word, static_cast<const char*>(from) + done, part);
      store(at, word);
      return true;
    });
  }
  void copy_out(uint64_t position, void* to, uint64_t bytes) const noexcept {
    const Word* from = &at(position);
    char* target = static_cast<char*>(to);
    if constexpr (copies_bulk()) {
      if (bytes >= kBulk) return Ops::copy_bulk(to, from, bytes);
    }
    // Some at once: without that, each word's place is computed anew, as the stores might have changed it.
    for (; bytes >= 32; bytes -= 32, from += 4, target += 32) {
      const uint64_t first = from[0].load(std::memory_order_relaxed);
      const uint64_t second = from[1].load(std::memory_order_relaxed);
      const uint64_t third = from[2].load(std::memory_order_relaxed);
      const uint64_t fourth = from[3].load(std::memory_order_relaxed);
      std::memcpy(target, &first, 8);
      std::memcpy(target + 8, &second, 8);
      std::memcpy(target + 16, &third, 8);
      std::memcpy(target + 24, &fourth, 8);
    }
    for (; bytes >= 8; bytes -= 8, ++from, target += 8) {
      const uint64_t word = from->load(std::memory_order_relaxed);
      std::memcpy(target, &word, 8);
    }
    if (bytes > 0) {
      const uint64_t word = from->load(std::memory_order_relaxed);
      std::memcpy(target, &word, bytes);
    }
  }
  bool equal(uint64_t position, const void* other, uint64_t bytes) const noexcept {
    const Word* own = &at(position);
    const char* its = static_cast<const char*>(other);
    for (; bytes >= 8; bytes -= 8, ++own, its += 8) {
      uint64_t word = 0;
      std::memcpy(&word, its, 8);
      if (own->load(std::memory_order_relaxed) != word) return false;
    }
    uint64_t word = 0;
    if (bytes > 0) std::memcpy(&word, its, bytes);
    return bytes == 0 || own->load(std::memory_order_relaxed) == word;
  }

 private:
  // From so many bytes on the system's way to copy is faster than words.
  static constexpr uint64_t kBulk = 512;
  static constexpr bool copies_bulk() noexcept {
    if constexpr (requires { Ops::kCopiesBulk; }) return Ops::kCopiesBulk;
    return false;
  }

  template <class Body>
  static bool for_each_word(uint64_t position, uint64_t bytes, Body&& body) noexcept {
    uint64_t done = 0;
    for (; done + 8 <= bytes; done += 8) {
      if (!body(position + done, done, uint64_t{8})) return false;
    }
    return done == bytes || body(position + done, done, bytes - done);
  }

  char* memory_;
};

}  // namespace weft::shm
