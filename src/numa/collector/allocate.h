// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::numa {

// Whether the calling thread is in a call of the program's allocator, which may hold locks: nothing may be allocated
// and no thread started.
bool is_in_allocator() noexcept;

// What the C library or the collector allocates while it lives is none of the program's.
class InAllocator {
 public:
  InAllocator() noexcept;
  ~InAllocator();
  InAllocator(const InAllocator&) = delete;
  InAllocator& operator=(const InAllocator&) = delete;
};

}  // namespace weft::numa
