// SPDX-License-Identifier: Apache-2.0
// Where the functions of an object begin, its own and those without a name: from the table by which exceptions find
// their way (Linux Standard Base 5.0, 10.6.2, .eh_frame_hdr).
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::audit {

class FunctionTable {
 public:
  // `header`: where the table is mapped, `size` bytes; null: there is none. One in another form counts as none.
  FunctionTable(const unsigned char* header, size_t size) noexcept {
    constexpr size_t kHead = 12;
    constexpr unsigned char kForm[] = {1, 0x1b, 0x03, 0x3b};  // the one that linkers write
    if (header == nullptr || size < kHead || __builtin_memcmp(header, kForm, sizeof kForm) != 0) return;
    uint32_t count = 0;
    __builtin_memcpy(&count, header + 8, sizeof count);
    if (count > (size - kHead) / sizeof(Entry)) return;
    header_ = header;
    entries_ = header + kHead;
    count_ = count;
  }

  // The beginning of the function that `at` is in, or that ends before it; null: there is none.
  const unsigned char* begin_of(const unsigned char* at) const noexcept {
    size_t low = 0;
    size_t high = count_;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (begin(middle) <= at) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low > 0 ? begin(low - 1) : nullptr;
  }

 private:
  struct Entry {
    int32_t begin;  // from the header
    int32_t rules;
  };

  const unsigned char* begin(size_t i) const noexcept {
    Entry entry;
    __builtin_memcpy(&entry, entries_ + i * sizeof entry, sizeof entry);
    return header_ + entry.begin;
  }

  const unsigned char* header_ = nullptr;
  const unsigned char* entries_ = nullptr;
  size_t count_ = 0;
};

}  // namespace weft::audit
