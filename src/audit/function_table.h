// SPDX-License-Identifier: Apache-2.0
// Where the functions of an object are, its own and those without a name: from the tables by which exceptions find
// their way (Linux Standard Base 5.0, 10.6, .eh_frame and .eh_frame_hdr).
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::audit {

struct FunctionRange {
  const unsigned char* begin = nullptr;  // null: there is none
  const unsigned char* end = nullptr;
};

class FunctionTable {
 public:
  // `header`: where .eh_frame_hdr is mapped, `size` bytes; null: there is none. One in another form counts as none.
  FunctionTable(const unsigned char* header, size_t size) noexcept {
    constexpr size_t kHead = 12;
    constexpr unsigned char kForm[] = {1, kRelative, 0x03, 0x3b};  // the one that linkers write
    if (header == nullptr || size < kHead || __builtin_memcmp(header, kForm, sizeof kForm) != 0) return;
    const auto count = read<uint32_t>(header + 8);
    if (count > (size - kHead) / sizeof(Entry)) return;
    header_ = header;
    entries_ = header + kHead;
    count_ = count;
  }

  // The function, or the part of one, that `at` is in.
  FunctionRange of(const unsigned char* at) const noexcept {
    size_t low = 0;
    size_t high = count_;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (header_ + entry(middle).begin <= at) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == 0) return {};
    const Entry found = entry(low - 1);
    const FunctionRange range = range_of(header_ + found.description, header_ + found.begin);
    return at >= range.begin && at < range.end ? range : FunctionRange{};
  }

 private:
  static constexpr unsigned char kRelative = 0x1b;  // four bytes, from where they stand

  struct Entry {
    int32_t begin;  // both from the header
    int32_t description;
  };

  template <class T>
  static T read(const unsigned char* at) noexcept {
    T value;
    __builtin_memcpy(&value, at, sizeof value);
    return value;
  }

  Entry entry(size_t i) const noexcept { return read<Entry>(entries_ + i * sizeof(Entry)); }

  // Of the description at `at`, which must be about the function at `begin`.
  static FunctionRange range_of(const unsigned char* at, const unsigned char* begin) noexcept {
    constexpr uint32_t kLongForm = 0xffffffff;
    if (read<uint32_t>(at) == kLongForm) return {};
    const unsigned char* common = at + 4 - read<int32_t>(at + 4);
    const unsigned char* first = at + 8;
    if (form_of_addresses(common) != kRelative || first + read<int32_t>(first) != begin) return {};
    return {begin, begin + read<uint32_t>(first + 4)};
  }

  // What the part that descriptions have in common says of them (the letter R); 0: it is in another form.
  static unsigned char form_of_addresses(const unsigned char* common) noexcept {
    const unsigned char* at = common + 9;
    if (*at++ != 'z') return 0;
    const unsigned char* letters = at;
    while (*at != 0) ++at;
    ++at;
    for (int number = 0; number < 4; ++number) {  // alignments, the return address, the length of what follows
      while ((*at++ & 0x80) != 0) continue;
    }
    for (; *letters != 0; ++letters) {
      if (*letters == 'R') return *at;
      if (*letters == 'L') {
        ++at;
      } else if (*letters == 'P') {
        const int size = *at++ & 0x0f;
        if (size != 0x0b && size != 0x03) return 0;
        at += 4;
      } else if (*letters != 'S' && *letters != 'B') {
        return 0;
      }
    }
    return 0;
  }

  const unsigned char* header_ = nullptr;
  const unsigned char* entries_ = nullptr;
  size_t count_ = 0;
};

}  // namespace weft::audit
