// SPDX-License-Identifier: Apache-2.0
// Single copy: one rank reads or writes the memory of another one, which waits meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sys/types.h>

namespace weft::coll {

// Each returns whether all bytes were copied.
bool read_peer(pid_t peer, void* to, uint64_t from, size_t bytes) noexcept;
bool write_peer(pid_t peer, uint64_t to, const void* from, size_t bytes) noexcept;

}  // namespace weft::coll
