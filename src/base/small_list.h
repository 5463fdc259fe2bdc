// SPDX-License-Identifier: Apache-2.0
// A list of plain values, the first few of them in place. Relocatable: it may be moved with memcpy.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "base/message.h"

namespace weft::base {

template <class Value, int InPlace>
class SmallList {
  static_assert(std::is_trivially_copyable_v<Value>);

 public:
  int size() const noexcept { return size_; }
  int capacity() const noexcept { return capacity_; }
  Value* begin() noexcept { return heap_ != nullptr ? heap_ : in_place_; }
  Value* end() noexcept { return begin() + size_; }
  const Value* begin() const noexcept { return heap_ != nullptr ? heap_ : in_place_; }
  const Value* end() const noexcept { return begin() + size_; }

  // There is no destructor: most lists stay with a record that is used again.
  void free_memory() noexcept {
    std::free(heap_);
    heap_ = nullptr;
    size_ = 0;
    capacity_ = InPlace;
  }

  // Keeps the memory.
  void clear() noexcept { size_ = 0; }

  // Without memory the process ends with a message.
  void add(const Value& value) noexcept {
    if (size_ == capacity_) grow();
    begin()[size_++] = value;
  }

  template <class Unwanted>
  void remove_if(Unwanted&& unwanted) noexcept {
    int kept = 0;
    Value* values = begin();
    for (int i = 0; i < size_; ++i) {
      if (!unwanted(values[i])) values[kept++] = values[i];
    }
    size_ = kept;
  }

 private:
  void grow() noexcept {
    const int capacity = 2 * capacity_;
    auto* grown = static_cast<Value*>(std::malloc(sizeof(Value) * static_cast<size_t>(capacity)));
    if (grown == nullptr) fatal("no memory for a list of %d", capacity);
    std::copy_n(begin(), size_, grown);
    std::free(heap_);
    heap_ = grown;
    capacity_ = capacity;
  }

  Value* heap_ = nullptr;
  int size_ = 0;
  int capacity_ = InPlace;
  Value in_place_[InPlace];
};

}  // namespace weft::base
