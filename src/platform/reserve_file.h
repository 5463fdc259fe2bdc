// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weft::platform {

// Gives a file memory or blocks from `from` up to `to`, all of it now: a file system that is full must not show only
// when a page is touched, which kills. 0, or an errno; EINTR where the kernel is interrupted again and again by what
// cannot be blocked.
//
// Before Linux 6.10 any signal makes fallocate(2) in memory give back all that it has taken and fail with EINTR, so
// that beside a fast timer a long one never ends. So signals are blocked, the work is done in parts, and tries are
// counted.
int reserve_file(int file, uint64_t from, uint64_t to) noexcept;

}  // namespace weft::platform
