// SPDX-License-Identifier: Apache-2.0
// Copies of another process's records. They are read while that process writes them: so every pointer and number in one
// may be stale, and is checked by whoever uses it.
#pragma once

#include <cstdint>
#include <memory>

#include "threads/inspector.h"

namespace weft::tools {

template <class T>
class Copy {
 public:
  // The record at `address` of the process; none where it is not mapped.
  Copy(Inspector& process, uint64_t address) : address_(address) {
    auto bytes = std::unique_ptr<Bytes>(new Bytes);
    if (address != 0 && process.read(address, bytes->data, sizeof(T))) bytes_ = std::move(bytes);
  }
  Copy(Inspector& process, const volatile void* address) : Copy(process, reinterpret_cast<uint64_t>(address)) {}

  explicit operator bool() const { return bytes_ != nullptr; }
  const T* operator->() const { return reinterpret_cast<const T*>(bytes_->data); }
  const T& operator*() const { return *operator->(); }
  uint64_t address() const { return address_; }

 private:
  struct Bytes {
    alignas(T) char data[sizeof(T)];
  };
  std::unique_ptr<Bytes> bytes_;
  uint64_t address_;
};

}  // namespace weft::tools
