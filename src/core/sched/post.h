// SPDX-License-Identifier: Apache-2.0
// What passes between the owner of a persistent team and its members (core/sched/persistent_team.h).
#pragma once

#include <array>
#include <atomic>

namespace weft::core {

inline constexpr int kMaxPersistentMembers = 4096;

// What the owner tells a member; the meaning is the owner's.
struct Post {
  static constexpr int kWords = 6;
  void* words[kWords];

  // Of an optional post these are addresses of what the call reads first, or null: the member fetches them while it
  // claims the post. Relaxed: nothing is read there before that.
  static constexpr std::array<int, 2> kFetched = {2, 3};

  void write(const Post& other) noexcept {
    for (int k = 0; k < kWords; ++k) std::atomic_ref(words[k]).store(other.words[k], std::memory_order_relaxed);
  }
  void fetch_ahead() noexcept {
    for (const int index : kFetched) __builtin_prefetch(std::atomic_ref(words[index]).load(std::memory_order_relaxed));
  }
};

}  // namespace weft::core
