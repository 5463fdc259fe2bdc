// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::numa {

// Before a system call after which the collector cannot go on as before, by its number and first arguments: a filter of
// system calls seals it, and changes of namespaces end the thread that samples. Other calls are left alone.
void before_leaving(long call, long a, long b, long c) noexcept;

}  // namespace weft::numa
