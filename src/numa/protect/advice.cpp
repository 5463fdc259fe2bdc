// SPDX-License-Identifier: Apache-2.0
// madvise(): by some kinds of advice the kernel accesses the pages, or makes them huge.
#include <sys/mman.h>

#include "numa/collector/real.h"
#include "numa/protect/guard.h"

namespace weft::numa {

namespace {

constinit Real<int(void*, size_t, int)> g_madvise{"madvise"};

// Whether the kernel wants to read or write the pages itself.
bool needs_access(int advice) noexcept {
  constexpr int kPopulateRead = 22;
  constexpr int kPopulateWrite = 23;
  constexpr int kCollapse = 25;
  return advice == kPopulateRead || advice == kPopulateWrite || advice == kCollapse;
}

}  // namespace

}  // namespace weft::numa

using namespace weft::numa;

extern "C" {

[[gnu::visibility("default")]] int madvise(void* begin, size_t bytes, int advice) noexcept {
  if (needs_access(advice)) exclude(reinterpret_cast<uintptr_t>(begin), bytes);
  const int result = g_madvise.get()(begin, bytes, advice);
  if (advice == MADV_HUGEPAGE && result == 0) have_huge_pages(reinterpret_cast<uintptr_t>(begin), bytes);
  return result;
}

}  // extern "C"
