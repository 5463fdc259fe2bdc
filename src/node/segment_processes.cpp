// SPDX-License-Identifier: Apache-2.0
// The processes of a segment: how many there are, and the removal of what dead ones leave.
#include "node/segment.h"

#include <algorithm>

namespace weft::node {

uint64_t Segment::memberships() const noexcept {
  uint64_t sum = 0;
  for (const Record& record : layout_->records) sum += record.serial.load(std::memory_order_relaxed);
  return sum;
}

// Frees slots whose owner is no process that takes part: it took a slot while others removed it as dead, for example.
int Segment::free_orphans() noexcept {
  int freed = 0;
  for (std::atomic<Owner>& slot : layout_->slots) {
    Owner owner = slot.load(std::memory_order_relaxed);
    if (owner == 0) continue;
    const int number = record_of(owner);
    if (number >= 0 &&
        layout_->records[static_cast<size_t>(number)].serial.load(std::memory_order_acquire) == serial_of(owner)) {
      continue;
    }
    if (slot.compare_exchange_strong(owner, 0)) ++freed;
  }
  if (freed > 0) tell_of_change(layout_->header);
  return freed;
}

int Segment::remove_dead(Check check) noexcept {
  int freed = 0;
  const uint32_t top = std::min<uint32_t>(layout_->header.top.load(std::memory_order_relaxed), kMostProcesses);
  for (uint32_t i = 0; i < top; ++i) {
    Record& record = layout_->records[i];
    uint32_t life = record.life.load(std::memory_order_acquire);
    if (!node::has_gone(record, life, check)) continue;
    if (record.serial.load(std::memory_order_relaxed) != 0) freed += clear(*layout_, static_cast<int>(i));
    // Release: a process that takes the seat sees that the record is cleared.
    if (life != 0) record.life.compare_exchange_strong(life, 0, std::memory_order_release, std::memory_order_relaxed);
  }
  return check == Check::processes ? freed + free_orphans() : freed;
}

int Segment::live_count() const noexcept {
  int count = 0;
  for (const Record& record : layout_->records) count += record.serial.load(std::memory_order_acquire) != 0 ? 1 : 0;
  return count;
}

}  // namespace weft::node
