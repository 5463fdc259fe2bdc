// SPDX-License-Identifier: Apache-2.0
#include "coll/group/model.h"

#include <algorithm>
#include <cmath>

#include "coll/group/layout.h"
#include "coll/group/memory.h"

namespace weft::coll {

namespace {

// The size of all ranks' queues together. Longer queues are hardly faster; and to make a group takes about as long as
// to get their pages.
constexpr size_t kAllQueues = size_t{16} << 20;
constexpr size_t kLargestQueue = size_t{64} << 10;
constexpr size_t kSmallestQueue = size_t{32} << 10;

// What single copy costs. It makes system calls, but takes less time per byte than two copies by a queue, of which one
// takes each cache line from another CPU. Measured with two ranks, both on hardware threads of one core and on cores
// without a common cache.
struct Cost {
  double calls;                    // the system calls of an operation, in nanoseconds
  double byte;                     // the time per byte, in nanoseconds
  double queue_copies;             // how often a byte is copied where the operation goes by the queues
  size_t most = size_t{96} << 10;  // for longer data single copy is faster on each machine
};

size_t threshold(const Cost& cost, const Speed& speed) noexcept {
  // For shorter data that is not in a cache the queue is as fast on each machine.
  constexpr size_t kLeast = size_t{8} << 10;
  const double gain = cost.queue_copies * speed.copy_ns_per_byte - cost.byte;
  if (gain <= 0) return cost.most;
  return static_cast<size_t>(std::clamp(cost.calls / gain, double{kLeast}, static_cast<double>(cost.most)));
}

}  // namespace

size_t queue_bytes(const Settings& settings, int ranks) noexcept {
  size_t queue = settings.queue_bytes;
  if (queue == 0) queue = std::clamp(kAllQueues / static_cast<size_t>(ranks), kSmallestQueue, kLargestQueue);
  return std::max(whole_pages(queue), 2 * page_bytes());
}

QueueLayout lay_out_queue(const Settings& settings, int ranks, const Speed& speed) noexcept {
  const size_t page = page_bytes(), queue = queue_bytes(settings, ranks);
  size_t fragment = settings.fragment_bytes;
  if (fragment == 0)
    fragment = static_cast<size_t>(std::sqrt(static_cast<double>(queue) * speed.notify_ns / speed.copy_ns_per_byte));
  fragment = std::clamp(whole_pages(fragment), page, queue / 2 / page * page);
  const uint64_t fragments = std::min<uint64_t>(queue / fragment, kLines);
  return {fragments * fragment, fragment, fragments};
}

Thresholds single_copy_thresholds(bool allowed, bool crowded, const Speed& speed) noexcept {
  Thresholds from;
  from.fill(SIZE_MAX);
  if (!allowed) return from;
  const auto set = [&](Operation operation, const Cost& cost, size_t when_crowded) {
    from[static_cast<size_t>(operation)] = crowded ? when_crowded : threshold(cost, speed);
  };
  // Where there are more ranks than CPUs, a wait is a switch of contexts, and by single copy each operation has one
  // wait more.
  constexpr size_t kKiB = 1024;
  set(Operation::bcast, {.calls = 1650, .byte = 0.035, .queue_copies = 3.3}, 512 * kKiB);
  set(Operation::reduce, {.calls = 3700, .byte = 0.09, .queue_copies = 3.3}, 512 * kKiB);
  set(Operation::allreduce, {.calls = 3700, .byte = 0.09, .queue_copies = 5}, 256 * kKiB);
  // In these two all ranks copy at the same time: hardware threads of one core then copy at half the speed that was
  // measured with two ranks.
  set(Operation::allgather, {.calls = 1750, .byte = 0.07, .queue_copies = 4.3, .most = 24 * kKiB}, 64 * kKiB);
  set(Operation::alltoall, {.calls = 1750, .byte = 0.07, .queue_copies = 4.3, .most = 12 * kKiB}, 32 * kKiB);
  return from;
}

}  // namespace weft::coll
