// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::numa {

// Before a system call of the program's, by its number and first arguments: one that gives up system calls (seccomp)
// seals the collector. Other calls are left alone.
void before_filter(long call, long a, long b, long c) noexcept;

}  // namespace weft::numa
