// SPDX-License-Identifier: Apache-2.0
// The words of a store's memory. Readers copy while a writer may write, and find out afterwards; so each word is read
// and written as an atomic one, relaxed: what orders them stands where they are used.
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
    for_each_word(position, bytes, [&](uint64_t at, uint64_t done, uint64_t part) {
      const uint64_t word = load(at);
      std::memcpy(static_cast<char*>(to) + done, &word, part);
      return true;
    });
  }
  bool equal(uint64_t position, const void* other, uint64_t bytes) const noexcept {
    return for_each_word(position, bytes, [&](uint64_t at, uint64_t done, uint64_t part) {
      uint64_t word = 0;
      std::memcpy(&word, static_cast<const char*>(other) + done, part);
      return load(at) == word;
    });
  }

 private:
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
