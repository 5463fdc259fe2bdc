// SPDX-License-Identifier: Apache-2.0
// A stretch of the process's time of which a profile is made: its sampler, and what had been counted before it. There
// is one at a time; while there is none, regions are not told (context_record.h, is_recording).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "observe/record/profile/counts.h"
#include "observe/record/profile/messages.h"
#include "observe/record/profile/sampler.h"

namespace weft::observe {

class Recording {
 public:
  // From now on. The constructors may throw std::bad_alloc.
  explicit Recording(int cpus);
  // From the start of the process, which was at `began`.
  Recording(int cpus, int64_t began);

  // The caller goes on with what is serial, if it is a thread of the program's outside of regions. False when the
  // system refuses the sampler's thread, which calls `look_around`, if there is one, some times a second.
  using LookAround = void (*)(Recording& recording) noexcept;
  bool start(LookAround look_around = nullptr);
  // Then the rest may be read. False: the sampler does not end, so that this must stay, or has had no memory.
  bool stop() noexcept;

  // Called by the sampler's thread, while it runs: calls `read`, which may read the rest, and goes on as if nothing had
  // been.
  template <class Read>
  void interrupt(Read&& read) {
    sampler_.sum_up();
    Ledger before = sampler_.ledger();
    spread_unwatched();
    read();
    sampler_.ledger() = std::move(before);
  }

  Sampler& sampler() noexcept { return sampler_; }
  // What was counted in it, by node; scaled to what was not told.
  std::vector<Sum> scaled_sums(uint32_t nodes) const;
  std::vector<Messages> new_messages() const;
  uint64_t lost_nodes() const noexcept { return g_nodes.lost() - lost_nodes_before_; }

 private:
  std::vector<Sum> counted(uint32_t nodes) const;
  void spread_unwatched();

  const bool is_part_;  // not of the whole process
  LookAround look_around_ = nullptr;
  Sampler sampler_;
  std::vector<Sum> before_;
  std::vector<Messages> messages_before_;
  uint64_t lost_nodes_before_ = 0;
};

}  // namespace weft::observe
