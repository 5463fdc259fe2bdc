// SPDX-License-Identifier: Apache-2.0
// GOMP: gfortran 14 notes which allocatable variables have memory of an OpenMP allocator, and asks before it frees or
// moves one.
#include <mutex>
#include <new>

#include "base/address_hash.h"
#include "base/message.h"
#include "openmp/gomp/gomp.h"
#include "platform/spinlock.h"

using namespace weft;

namespace {

// The noted addresses, in lists by their hash.
struct Note {
  const void* address;
  Note* next;
};
constexpr unsigned kBits = 10;
Note* g_lists[size_t{1} << kBits];
platform::Spinlock g_lock;

Note** list_of(const void* address) noexcept { return &g_lists[base::address_hash<kBits>(address)]; }

}  // namespace

WEFT_ABI(void, GOMP_add_alloc)(const void* address) {
  auto* note = new (std::nothrow) Note{address, nullptr};
  if (note == nullptr) base::lacking("no memory to note an allocatable variable");
  const std::lock_guard guard(g_lock);
  Note** list = list_of(address);
  note->next = *list;
  *list = note;
}

// Takes the note away: the caller is about to free the memory.
WEFT_ABI(bool, GOMP_is_alloc)(const void* address) {
  Note* found = nullptr;
  {
    const std::lock_guard guard(g_lock);
    for (Note** at = list_of(address); *at != nullptr; at = &(*at)->next) {
      if ((*at)->address != address) continue;
      found = *at;
      *at = found->next;
      break;
    }
  }
  delete found;
  return found != nullptr;
}
