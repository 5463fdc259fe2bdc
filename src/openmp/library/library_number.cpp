// SPDX-License-Identifier: Apache-2.0
#include "openmp/library/library_number.h"

#include <array>
#include <atomic>

#include <dlfcn.h>
#include <link.h>

namespace weft::openmp {

namespace {

// A library keeps its entry. Relaxed: the right is what orders those that tell it numbers. Of libraries beyond these
// no number is known.
struct LibraryNumber {
  std::atomic<const void*> owner{nullptr};
  std::atomic<int> threads{0};
};
constinit std::array<LibraryNumber, 16> g_numbers{};

LibraryNumber* find(const void* caller) noexcept {
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(caller), &found) != 0) return nullptr;
  // By its dynamic section: a library in the place of another seldom has it at the same address.
  const void* library = found.dlfo_link_map->l_ld;
  for (LibraryNumber& entry : g_numbers) {
    const void* taken = entry.owner.load(std::memory_order_relaxed);
    if (taken == nullptr && entry.owner.compare_exchange_strong(taken, library, std::memory_order_relaxed)) {
      return &entry;
    }
    if (taken == library) return &entry;
  }
  return nullptr;
}

}  // namespace

int library_number(const void* caller) noexcept {
  const LibraryNumber* entry = find(caller);
  return entry != nullptr ? entry->threads.load(std::memory_order_relaxed) : 0;
}

void note_library_number(const void* caller, int threads) noexcept {
  if (LibraryNumber* entry = find(caller)) entry->threads.store(threads, std::memory_order_relaxed);
}

}  // namespace weft::openmp
