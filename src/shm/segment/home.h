// SPDX-License-Identifier: Apache-2.0
// The home of a segment: its file, or its place in memory, and the boot of the machine. A segment may be copied while
// it is used, and a file may outlive a reboot. Then the owners that it names are gone, or own another segment. The
// segment has its home written in it, so a process that comes sees that.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::shm {

// One word, so that a segment gets a new home in one step. Its parts are hashes of the file, of the time when that was
// made, and of the boot. A part that is 0 is not known, for example where /proc is missing, and is not compared.
using Home = uint64_t;

Home home_of_file(int file) noexcept;
// The home of the file, or of the memory without a file, that is mapped at `memory`.
Home home_of_memory(const void* memory) noexcept;

// Gives a segment that comes from elsewhere the home `here`. All processes that share it see the same home, so any of
// them may do that.
void settle_at(std::atomic<Home>& home, Home here) noexcept;

// The era of a home, which owners write beside their number: never 0, and as a rule another one for another home.
constexpr uint32_t kEraBits = 20;
constexpr uint32_t era_of(Home home) noexcept {
  // All bits of a home are those of hashes.
  const uint64_t folded = home ^ home >> kEraBits ^ home >> 2 * kEraBits ^ home >> 3 * kEraBits;
  const uint32_t era = static_cast<uint32_t>(folded) & ((1u << kEraBits) - 1);
  return era == 0 ? 1 : era;
}

}  // namespace weft::shm
