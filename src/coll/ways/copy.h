// SPDX-License-Identifier: Apache-2.0
// Copies of a known small number of bytes, of parts of blocks, and pieces of messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "platform/prefetch.h"

namespace weft::coll {

inline const char* bytes_of(const void* data, size_t offset) noexcept {
  return static_cast<const char*>(data) + offset;
}
inline char* bytes_of(void* data, size_t offset) noexcept { return static_cast<char*>(data) + offset; }

// A message in pieces of at most `most`: for (size_t at = 0; at < bytes; at += most) ... piece(at, bytes, most)
inline size_t piece(size_t at, size_t bytes, size_t most) noexcept { return std::min(most, bytes - at); }

// Copies into a buffer of a queue. The buffer's cache lines lie in the cache of the CPU that has read them last. A CPU
// that only writes fetches them one after the other, so this asks for many of them before it writes.
inline void copy_in(char* buffer, const void* from, size_t bytes) noexcept {
  constexpr size_t kBlock = 2048, kLine = 64;
  const auto ask = [&](size_t begin, size_t end) {
    for (size_t at = begin; at < std::min(end, bytes); at += kLine) platform::prefetch_to_write(buffer + at);
  };
  ask(0, kBlock);
  for (size_t at = 0; at < bytes; at += kBlock) {
    ask(at + kBlock, at + 2 * kBlock);
    std::memcpy(buffer + at, bytes_of(from, at), piece(at, bytes, kBlock));
  }
}

// Part `index` of `count` elements that are divided among `parts`: the first ones get one more.
struct Share {
  size_t begin;
  size_t count;
};
inline Share share(size_t count, int parts, int index) noexcept {
  const auto all = static_cast<size_t>(parts), here = static_cast<size_t>(index);
  const size_t each = count / all, more = count % all;
  return {here * each + std::min(here, more), each + (here < more ? 1 : 0)};
}

}  // namespace weft::coll
