// SPDX-License-Identifier: Apache-2.0
// Which names of a library may be known, found by one look through the table that they stand in. A library has
// ten thousand names and more, and its symbols name them in no order: to look at each by its symbol takes several times
// as long. It needs nothing of libc, so that the audit library may use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::interpose {

class KnownNames {
 public:
  // may_be_known(at): whether a name with that underscore may be known.
  template <class Test>
  KnownNames(const char* begin, size_t size, Test&& may_be_known) noexcept : begin_(begin), size_(size) {
    while (size >> shift_ >= 64 * marks_.size()) ++shift_;
    const auto look = [&](const char* at) {
      if (may_be_known(at)) mark(at);
    };
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
      uint64_t word;
      __builtin_memcpy(&word, begin + i, 8);
      word ^= '_' * kOnes;
      // The highest bit of each byte that is 0, and of no other.
      uint64_t found = ~(((word & ~kHigh) + ~kHigh) | word | ~kHigh);
      for (; found != 0; found &= found - 1) look(begin + i + __builtin_ctzll(found) / 8);
    }
    for (; i < size; ++i) {
      if (begin[i] == '_') look(begin + i);
    }
  }

  // `name` is one of the table, or the end of one.
  bool holds(const char* name) const noexcept {
    const auto part = static_cast<size_t>(name - begin_) >> shift_;
    return static_cast<size_t>(name - begin_) >= size_ || (marks_[part / 64] >> (part % 64) & 1) != 0;
  }

 private:
  static constexpr uint64_t kOnes = 0x0101010101010101;
  static constexpr uint64_t kHigh = 0x80 * kOnes;

  // All that ends in this underscore.
  void mark(const char* last) noexcept {
    const char* first = last;
    while (first > begin_ && first[-1] != '\0') --first;
    for (size_t part = static_cast<size_t>(first - begin_) >> shift_;
         part <= static_cast<size_t>(last - begin_) >> shift_; ++part) {
      marks_[part / 64] |= uint64_t{1} << (part % 64);
    }
  }

  const char* begin_;
  size_t size_;
  unsigned shift_ = 3;
  std::array<uint64_t, 512> marks_{};
};

}  // namespace weft::interpose
