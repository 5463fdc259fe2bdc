// SPDX-License-Identifier: Apache-2.0
// Fences for the pattern of Dekker between processes (platform/asymmetric_fence.h has those of one process): the rare
// side makes all threads of all processes that take part pass a fence, so the frequent one needs none.
#pragma once

namespace weft::shm {

// Whether the kernel has the call for both sides, and lets this process make it.
bool can_fence_processes() noexcept;

// From now on this process takes part. False: the kernel refuses, and its threads must make full fences themselves.
bool take_part_in_fences() noexcept;

// Of the rare side. False: the kernel refuses (a filter of system calls has come since).
bool fence_processes() noexcept;

}  // namespace weft::shm
