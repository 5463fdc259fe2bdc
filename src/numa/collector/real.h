// SPDX-License-Identifier: Apache-2.0
// The functions that the collector stands in front of: the next of their name behind it, which need not be the C
// library's.
#pragma once

namespace weft::numa {

// Null when there is none.
void* next_function(const char* name) noexcept;

// One of them, looked up at the first call.
template <class Function>
class Real {
 public:
  explicit constexpr Real(const char* name) noexcept : name_(name) {}
  Function* get() noexcept {
    // Relaxed: a thread that finds null finds the same once more.
    void* found = __atomic_load_n(&function_, __ATOMIC_RELAXED);
    if (found == nullptr) {
      found = next_function(name_);
      __atomic_store_n(&function_, found, __ATOMIC_RELAXED);
    }
    return reinterpret_cast<Function*>(found);
  }

 private:
  const char* const name_;
  void* function_ = nullptr;
};

}  // namespace weft::numa
