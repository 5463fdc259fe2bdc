// SPDX-License-Identifier: Apache-2.0
// Asymmetric fences between processes (platform/asymmetric_fence.h has those of one process), for Dekker's pattern: the
// rare side makes all threads of all processes that take part pass a fence, so the frequent side needs none.
#pragma once

namespace weft::shm {

// Whether the kernel has the call for both sides, and lets this process make it.
bool can_fence_processes() noexcept;

// From now on this process takes part. Returns false where the kernel refuses: then its threads must make full fences
// themselves.
bool take_part_in_fences() noexcept;

// The rare side's fence. Returns false where the kernel refuses: a filter of system calls may have come since.
bool fence_processes() noexcept;

}  // namespace weft::shm
