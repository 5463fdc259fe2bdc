// SPDX-License-Identifier: Apache-2.0
// How a queue is divided into buffers.
//
// A long message passes the queue in fragments. The first one must be copied in before anything is copied out, so they
// should be small; each one costs a notification, so they should be few. With b bytes of queue, tW for a notification
// and t for the copy of a byte, f = sqrt(b tW / t) is the best (Kurnosov and Tokmasheva's SHMBcast).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "coll/coll.h"

namespace weft::coll {

struct QueueLayout {
  size_t queue_bytes;  // b
  size_t fragment_bytes;  // f: whole pages
  uint64_t fragments;  // s: 2 or more
};

// The size of each rank's queue, b.
size_t queue_bytes(const Settings& settings, int ranks) noexcept;

// The speed of the machine, as two ranks have measured it; by default, what is usual on a server.
struct Speed {
  double notify_ns = 150;
  double copy_ns_per_byte = 0.1;
};

// Divides the queue, by `settings` where these say something that is possible.
QueueLayout lay_out_queue(const Settings& settings, int ranks, const Speed& speed) noexcept;

// For each operation: from how many bytes on the ranks read and write each other's memory. Bytes are those that one
// rank gives another one.
using Thresholds = std::array<size_t, kOperations>;
Thresholds single_copy_thresholds(bool allowed, bool crowded, const Speed& speed) noexcept;

}  // namespace weft::coll
