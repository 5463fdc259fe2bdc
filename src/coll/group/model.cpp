// SPDX-License-Identifier: Apache-2.0
#include "coll/group/model.h"

#include <algorithm>
#include <cmath>

#include "coll/group/layout.h"
#include "coll/group/memory.h"

namespace weft::coll {

namespace {

// Of all ranks' queues. With few ranks each gets what still lies in its own cache.
constexpr size_t kAllQueues = size_t{16} << 20;
constexpr size_t kLargestQueue = size_t{256} << 10;
constexpr size_t kSmallestQueue = size_t{64} << 10;

}  // namespace

Division divide_queue(const Settings& settings, int ranks, double notify_ns, double copy_ns_per_byte) noexcept {
  const size_t page = page_bytes();
  size_t queue = settings.queue_bytes;
  if (queue == 0) queue = std::clamp(kAllQueues / static_cast<size_t>(ranks), kSmallestQueue, kLargestQueue);
  queue = std::max(whole_pages(queue), 2 * page);
  size_t fragment = settings.fragment_bytes;
  if (fragment == 0)
    fragment = static_cast<size_t>(std::sqrt(static_cast<double>(queue) * notify_ns / copy_ns_per_byte));
  fragment = std::clamp(whole_pages(fragment), page, queue / 2 / page * page);
  const uint64_t fragments = std::min<uint64_t>(queue / fragment, kLines);
  return {fragments * fragment, fragment, fragments};
}

}  // namespace weft::coll
