// SPDX-License-Identifier: Apache-2.0
// How a queue is divided into buffers.
//
// A long message passes the queue in fragments. The first one must be copied in before anything is copied out, so they
// should be small; each one costs a notification, so they should be few. With b bytes of queue, tW for a notification
// and t for the copy of a byte, f = sqrt(b tW / t) is the best (Kurnosov and Tokmasheva's SHMBcast).
#pragma once

#include <cstddef>
#include <cstdint>

#include "coll/coll.h"

namespace weft::coll {

struct Division {
  size_t queue_bytes;  // b
  size_t fragment_bytes;  // f: whole pages
  uint64_t fragments;  // s: 2 or more
};

// `settings` has its way as far as it can be.
Division divide_queue(const Settings& settings, int ranks, double notify_ns, double copy_ns_per_byte) noexcept;

}  // namespace weft::coll
