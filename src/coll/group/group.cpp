// SPDX-License-Identifier: Apache-2.0
#include "coll/group/group.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <new>

#include "base/message.h"

namespace weft::coll {

Group::Group(char* memory, const Shape& shape, const Settings& settings, const Facts& facts) noexcept
    : memory_(memory),
      shape_(shape),
      facts_(facts),
      waiting_{settings.progress, settings.died, facts.crowded},
      own_(area(shape.rank)) {}

void Group::set(const QueueLayout& queue, const Speed& speed) noexcept {
  queue_ = queue;
  single_copy_from_ = single_copy_thresholds(facts_.single_copy, crowded(), speed);
  facts_.notify_ns = speed.notify_ns;
  facts_.copy_ns_per_byte = speed.copy_ns_per_byte;
  facts_.queue_bytes = queue.queue_bytes;
  facts_.fragment_bytes = queue.fragment_bytes;
  facts_.fragments = static_cast<int>(queue.fragments);
}

Group::~Group() { std::free(scratch_); }

void Group::plant_trees(int from) noexcept {
  const auto ranks = static_cast<size_t>(size());
  // Where there are more ranks than CPUs, each level costs switches of contexts.
  if (from > 0 ? size() >= from : size() > kMostFlat && !crowded()) {
    const std::unique_ptr<Location[]> locations(new (std::nothrow) Location[ranks]);
    if (locations != nullptr) {
      for (size_t rank = 0; rank < ranks; ++rank) locations[rank] = member(static_cast<int>(rank)).location;
      by_location_.reset(new (std::nothrow) Hierarchy(size(), locations.get()));
    }
    if (by_location_ == nullptr) base::lacking("collectives: no memory for the tree of %d ranks", size());
  }
  if (from > 0 ? size() >= from : size() > kMostFlat) {
    by_number_.reset(new (std::nothrow) Hierarchy(size()));
    if (by_number_ == nullptr) base::lacking("collectives: no memory for the tree of %d ranks", size());
  }
}

void Group::await_free(uint64_t step) noexcept {
  uint64_t least = UINT64_MAX;
  for (int rank = 0; rank < size(); ++rank) {
    if (rank == shape_.rank) continue;
    await_done(rank, step);
    // Acquire: the same as in await_done(), for steps after `step`.
    least = std::min(least, area(rank).done.load(std::memory_order_acquire));
  }
  all_done_ = least;
}

void Group::await_all_done(uint64_t step) noexcept {
  for (int rank = 0; rank < size(); ++rank) {
    if (rank != shape_.rank) await_done(rank, step);
  }
}

void Group::die_with(int rank) const noexcept {
  // The kernel frees the memory of a process some time before it counts as ended: so it looks for a while.
  constexpr int kLooks = 100;
  constexpr timespec kPause{0, 1'000'000};
  for (int look = 0; look < kLooks; ++look) {
    if (platform::process_has_ended(member(rank).process)) tell_of_death(waiting_, rank);
    nanosleep(&kPause, nullptr);
  }
}

char* Group::scratch(size_t bytes) noexcept {
  if (bytes <= scratch_bytes_) return scratch_;
  std::free(scratch_);
  scratch_ = static_cast<char*>(std::aligned_alloc(kCacheLine, (bytes + kCacheLine - 1) / kCacheLine * kCacheLine));
  if (scratch_ == nullptr) base::lacking("collectives: no memory for %zu bytes", bytes);
  scratch_bytes_ = bytes;
  return scratch_;
}

void Group::end_scratch() noexcept {
  constexpr size_t kLong = size_t{1} << 20;
  if (scratch_bytes_ <= kLong) return;
  std::free(scratch_);
  scratch_ = nullptr;
  scratch_bytes_ = 0;
}

}  // namespace weft::coll
