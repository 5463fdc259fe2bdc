// SPDX-License-Identifier: Apache-2.0
// Where a region is at home: in this file, or this place of memory, since this machine was booted. A region that was
// copied while it was used, by whatever means, or that has outlived its machine's reboot, names owners that are no
// more, or that own another region. It says of which home it was, so whoever comes sees that.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::shm {

// One word, so that a region moves at once: parts of it say which file, when that was made, and which boot. A part that
// is 0 is not known, be it that /proc is not there, and says nothing.
using Home = uint64_t;

Home home_of_file(int file) noexcept;
// Of what is mapped there.
Home home_of_memory(const void* memory) noexcept;

// A region that comes from elsewhere is at home `here` from now on. All who share it see the same home, so it does not
// matter who does that.
void settle_at(std::atomic<Home>& home, Home here) noexcept;

// What owners write beside their number: never 0, and another one for another home.
constexpr uint32_t kEraBits = 20;
constexpr uint32_t era_of(Home home) noexcept {
  // All bits of a home are those of hashes.
  const uint64_t folded = home ^ home >> kEraBits ^ home >> 2 * kEraBits ^ home >> 3 * kEraBits;
  const uint32_t era = static_cast<uint32_t>(folded) & ((1u << kEraBits) - 1);
  return era == 0 ? 1 : era;
}

}  // namespace weft::shm
