// SPDX-License-Identifier: Apache-2.0
// What futex(2) is to threads, to contexts: sleep while a word keeps its value. Locks are built on it.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::core {

// Leaves the CPU while `word` holds `expected`, until unpark() comes for the word. May return early.
void park(const std::atomic<uint32_t>& word, uint32_t expected) noexcept;

// The same by one that had better do something else as long as `word` stands still: false, nobody parked on it has been
// made to go on for a millisecond or so. One at a time is told; the later, the more wait for good by then. So a word
// that changes hands lets all of them wait.
bool park_briefly(const std::atomic<uint32_t>& word, uint32_t expected) noexcept;

// Makes at most `count` contexts go on that are parked on `word`, oldest first. The caller has changed it.
void unpark(const std::atomic<uint32_t>& word, int count) noexcept;

// In the child of a fork: those that were parked are no more, nor are those that had just come to park or unpark.
void forget_parked() noexcept;

}  // namespace weft::core
