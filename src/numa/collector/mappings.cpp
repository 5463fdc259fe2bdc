// SPDX-License-Identifier: Apache-2.0
// mmap and munmap: large private mappings that the program makes are arrays too, but none that is ever protected.
// Others carve stacks, heaps and much else out of such memory. What an allocator maps within one of its calls is no
// array: the block that it returns is one.
#include <sys/mman.h>

#include "numa/collector/allocate.h"
#include "numa/collector/arrays.h"
#include "numa/collector/protection.h"
#include "numa/collector/real.h"

namespace weft::numa {

namespace {

constinit Real<void*(void*, size_t, int, int, int, off_t)> g_mmap{"mmap"};
constinit Real<int(void*, size_t)> g_munmap{"munmap"};

void* map(void* wanted, size_t bytes, int access, int flags, int file, off_t offset) noexcept {
  // It may take the place of an array.
  if ((flags & MAP_FIXED) != 0) protection::replace_mapping(reinterpret_cast<uintptr_t>(wanted), bytes);
  void* mapped = g_mmap.get()(wanted, bytes, access, flags, file, offset);
  constexpr int kKinds = MAP_PRIVATE | MAP_ANONYMOUS;
  const bool is_array = (flags & kKinds) == kKinds && (flags & (MAP_FIXED | MAP_STACK | MAP_GROWSDOWN)) == 0 &&
                        (access & PROT_WRITE) != 0 && (access & PROT_EXEC) == 0 && !is_in_allocator();
  if (mapped != MAP_FAILED && is_array && is_large(bytes)) add_array(mapped, bytes, How::mapped);
  return mapped;
}

}  // namespace

}  // namespace weft::numa

using namespace weft::numa;

extern "C" {

[[gnu::visibility("default")]] void* mmap(void* wanted, size_t bytes, int access, int flags, int file,
                                          off_t offset) noexcept {
  return map(wanted, bytes, access, flags, file, offset);
}

[[gnu::visibility("default")]] void* mmap64(void* wanted, size_t bytes, int access, int flags, int file,
                                            off64_t offset) noexcept {
  return map(wanted, bytes, access, flags, file, offset);
}

[[gnu::visibility("default")]] int munmap(void* begin, size_t bytes) noexcept {
  if (may_be_array(begin)) remove_array(begin);
  protection::replace_mapping(reinterpret_cast<uintptr_t>(begin), bytes);
  return g_munmap.get()(begin, bytes);
}

}  // extern "C"
