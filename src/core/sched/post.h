// SPDX-License-Identifier: Apache-2.0
// What the owner of a persistent team sends to its members (core/sched/persistent_team.h).
#pragma once

#include <array>
#include <atomic>

namespace weft::core {

inline constexpr int kMaxPersistentMembers = 4096;

// The words of a post; the owner gives them their meaning.
struct Post {
  static constexpr int kWords = 6;
  void* words[kWords];

  // In an optional post these words are addresses of data that the call reads first, or null: the member prefetches the
  // data while it claims the post. Relaxed: the data is not read before the claim.
  static constexpr std::array<int, 2> kFetched = {2, 3};

  void write(const Post& other) noexcept {
    for (int k = 0; k < kWords; ++k) std::atomic_ref(words[k]).store(other.words[k], std::memory_order_relaxed);
  }
  void fetch_ahead() noexcept {
    for (const int index : kFetched) __builtin_prefetch(std::atomic_ref(words[index]).load(std::memory_order_relaxed));
  }
};

}  // namespace weft::core
