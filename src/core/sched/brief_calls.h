// SPDX-License-Identifier: Apache-2.0
// Parallel calls whose members are so short that others would wait longer for the claim of one than it takes. The
// carrier that publishes such a call keeps it for itself: nobody is called, and nothing that others look at is written.
// It learns which ones these are by their functions, from the time that the publisher's own member takes, and offers
// the rest as soon as members take longer than that after all, or one of them waits. Internal to core; core/README.md
// has the protocol.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/address_hash.h"

namespace weft::core {

struct Carrier;
struct ParallelCall;

// What one carrier knows. Touched by its thread only.
class BriefFunctions {
 public:
  // Two transfers of a line at least: the claim and the end of a member.
  static constexpr int64_t kBriefNs = 200;
  // For fewer calls neither the clock is read nor anything kept: others are near then, as a rule.
  static constexpr int kLeastCalls = 16;

  bool expects(const void* function) const noexcept {
    const Entry& known = entries_[at(function)];
    return function != nullptr && known.function == function && known.streak >= known.needed;
  }
  // How long the publisher's own member has taken.
  void note(const void* function, int64_t ns) noexcept {
    Entry& known = entries_[at(function)];
    if (known.function != function) known = {function, 0, kFirst};
    known.streak = ns < kBriefNs ? std::min(known.streak + 1, kMost) : 0;
  }
  // Members have taken longer than was expected: each time it takes twice as long until that is expected again.
  void note_mistake(const void* function) noexcept {
    Entry& known = entries_[at(function)];
    if (known.function != function) return;
    known.streak = 0;
    known.needed = std::min(2 * known.needed, kMost);
  }

 private:
  static constexpr unsigned kBits = 3;
  static constexpr int kFirst = 4;
  static constexpr int kMost = 1 << 16;
  struct Entry {
    const void* function = nullptr;
    int streak = 0;  // brief ones in a row
    int needed = kFirst;
  };
  static size_t at(const void* function) noexcept { return base::address_hash<kBits>(function); }

  std::array<Entry, size_t{1} << kBits> entries_{};
};

// The call that a carrier keeps, if any. Touched by its thread only.
struct KeptCall {
  ParallelCall* call = nullptr;
  int64_t since_ns = 0;  // when its publisher's own member had ended; 0: not yet
  int ended = 0;  // members since
};

// Whether the carrier had better keep what it is about to publish.
bool expects_brief(const Carrier* carrier, const ParallelCall* call) noexcept;

// The publisher's own member has ended, which began at call->published_ns.
void note_own_member(Carrier* carrier, ParallelCall* call) noexcept;

// So has another one of the kept call. Offers the rest if that takes long.
void note_kept_member(Carrier* carrier) noexcept;

// The carrier offers the call that it keeps: it was not to be expected to be brief.
void offer_kept(Carrier* carrier) noexcept;

}  // namespace weft::core
