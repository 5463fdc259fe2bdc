// SPDX-License-Identifier: Apache-2.0
// Parking is to contexts what futex(2) is to threads: sleep while a word keeps its value. Locks are built on it.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::core {

// Leaves the CPU while `word` holds `expected`, until unpark() comes for the word. May return early.
void park(const std::atomic<uint32_t>& word, uint32_t expected) noexcept;

// The same for a context that had better do something else while `word` stands still. Returns false where no context
// parked on the word has gone on for a millisecond or so. One context at a time gets that answer; the more of them have
// returned and wait otherwise, the later the next one does. While the word changes hands all of them wait.
bool park_briefly(const std::atomic<uint32_t>& word, uint32_t expected) noexcept;

// Makes at most `count` contexts go on that are parked on `word`, oldest first. The caller has changed it.
void unpark(const std::atomic<uint32_t>& word, int count) noexcept;

// In the child of a fork: forgets the contexts that were parked, and those that were about to park or unpark.
void forget_parked() noexcept;

}  // namespace weft::core
