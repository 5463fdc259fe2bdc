// SPDX-License-Identifier: Apache-2.0
// The parallel calls of a carrier that have calls to claim. Internal to core.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <new>

namespace weft::core {

struct ParallelCall;

inline constexpr int kOpenCalls = 64;

// As a rule regions are nested some levels deep. So the first kFirst entries share the cache line of the count of
// entries, which a carrier that looks for work reads first. Room for more is made when it is needed, and kept.
class OpenCalls {
 public:
  static constexpr int kFirst = 6;

  std::atomic<ParallelCall*>& operator[](int entry) noexcept {
    return entry < kFirst ? first_[static_cast<size_t>(entry)] : further(entry);
  }
  const std::atomic<ParallelCall*>& operator[](int entry) const noexcept {
    return entry < kFirst ? first_[static_cast<size_t>(entry)] : further(entry);
  }

  // Whether there is room for the entry; makes it if need be. Called by the carrier.
  bool has_room_for(int entry) noexcept {
    if (__builtin_expect(entry < kFirst, 1)) return true;
    return entry < kOpenCalls && (further_.load(std::memory_order_relaxed) != nullptr || make_further());
  }

 private:
  using Further = std::array<std::atomic<ParallelCall*>, kOpenCalls - kFirst>;

  // Relaxed: a thread that knows of the entry has acquired the number of entries, which is released after this pointer.
  std::atomic<ParallelCall*>& further(int entry) const noexcept {
    return (*further_.load(std::memory_order_relaxed))[static_cast<size_t>(entry - kFirst)];
  }
  [[gnu::cold, gnu::noinline]] bool make_further() noexcept {
    auto* made = new (std::nothrow) Further();
    further_.store(made, std::memory_order_relaxed);
    return made != nullptr;
  }

  std::array<std::atomic<ParallelCall*>, kFirst> first_{};
  std::atomic<Further*> further_{nullptr};
};

}  // namespace weft::core
