// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/memory.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#include "base/message.h"
#include "base/options.h"
#include "openmp/record/team.h"

namespace weft::openmp {

namespace {

// omp_alloctrait_key_t.
enum Key { kSyncHint = 1, kAlignment, kAccess, kPoolSize, kFallback, kFallbackData, kPinned, kPartition };

// omp_alloctrait_value_t.
enum Value : uintptr_t {
  kFalse = 0,
  kTrue = 1,
  kContended = 3,
  kPrivate = 6,
  kAll = 7,
  kCgroup = 10,
  kDefaultMemory = 11,
  kNull = 12,
  kAbort = 13,
  kAllocator = 14,
  kEnvironment = 15,
  kInterleaved = 18,
};
constexpr uintptr_t kDefaultValue = UINTPTR_MAX;

constexpr MemorySpace kMemorySpaces = 5;
constexpr MemorySpace kDefaultOfLibomp = 99;
constexpr AllocatorHandle kPredefined = 8;

bool is_memory_space(MemorySpace space) noexcept { return space < kMemorySpaces || space == kDefaultOfLibomp; }

struct Allocator {
  size_t alignment = 1;
  size_t pool_size = SIZE_MAX;
  uintptr_t fallback = kDefaultMemory;
  AllocatorHandle fallback_allocator = kNullAllocator;
  bool pinned = false;
  std::atomic<size_t> used{0};  // of the pool; relaxed: a count
};

// Stands before each block.
struct Header {
  void* base;
  size_t size;   // of the block
  size_t taken;  // from the system, and from the pool
  Allocator* allocator;
};

Allocator* allocator_of(AllocatorHandle handle) noexcept {
  return handle > kPredefined ? reinterpret_cast<Allocator*>(handle) : nullptr;
}

bool set_trait(Allocator* allocator, int key, uintptr_t value) noexcept {
  const bool is_default = value == kDefaultValue;
  switch (key) {
    case kSyncHint: return is_default || (value >= kContended && value <= kPrivate);
    case kAlignment:
      if (!is_default) allocator->alignment = value;
      return is_default || std::has_single_bit(value);
    case kAccess: return is_default || (value >= kAll && value <= kCgroup);
    case kPoolSize: allocator->pool_size = is_default ? SIZE_MAX : value; return is_default || value > 0;
    case kFallback:
      allocator->fallback = is_default ? uintptr_t{kDefaultMemory} : value;
      return is_default || (value >= kDefaultMemory && value <= kAllocator);
    case kFallbackData: allocator->fallback_allocator = is_default ? kNullAllocator : value; return true;
    case kPinned: allocator->pinned = value == kTrue; return is_default || value <= kTrue;
    case kPartition: return is_default || (value >= kEnvironment && value <= kInterleaved);
    default: return false;
  }
}

// `returned` bytes of it will be given back next and count as free already.
bool take_from_pool(Allocator* allocator, size_t bytes, size_t returned) noexcept {
  size_t used = allocator->used.load(std::memory_order_relaxed);
  do {
    const size_t kept = used - returned;
    if (kept > allocator->pool_size || bytes > allocator->pool_size - kept) return false;
  } while (!allocator->used.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

// A lock holds for whole pages, however often it has been asked for: so what is pinned has pages of its own, from the
// system, which takes the lock back with them.
size_t whole_pages(size_t bytes) noexcept {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes > SIZE_MAX - page ? 0 : (bytes + page - 1) / page * page;
}

void* map_pinned(size_t bytes) noexcept {
  const size_t size = whole_pages(bytes);
  if (size == 0) return nullptr;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (mlock(memory, size) == 0) return memory;
  munmap(memory, size);
  return nullptr;
}

bool is_pinned(const Allocator* allocator) noexcept { return allocator != nullptr && allocator->pinned; }

void* take_from_system(const Allocator* allocator, size_t bytes, bool zeroed) noexcept {
  if (is_pinned(allocator)) return map_pinned(bytes);
  return zeroed ? std::calloc(bytes, 1) : std::malloc(bytes);
}

void give_to_system(const Header& header) noexcept {
  if (is_pinned(header.allocator)) {
    munmap(header.base, whole_pages(header.taken));
  } else {
    std::free(header.base);
  }
}

// Allocates with the traits of `allocator`, or none if null, in place of the block `replaced`, if any. Null when that
// is not possible.
void* try_allocate(Allocator* allocator, size_t alignment, size_t size, bool zeroed, const Header* replaced) noexcept {
  alignment = std::max({alignment, alignof(std::max_align_t), allocator != nullptr ? allocator->alignment : 1});
  const size_t extra = sizeof(Header) + alignment;
  if (size > SIZE_MAX - extra) return nullptr;
  const size_t taken = size + extra;
  const size_t returned = replaced != nullptr && replaced->allocator == allocator ? replaced->taken : 0;
  if (allocator != nullptr && !take_from_pool(allocator, taken, returned)) return nullptr;
  void* base = take_from_system(allocator, taken, zeroed);
  if (base == nullptr) {
    if (allocator != nullptr) allocator->used.fetch_sub(taken, std::memory_order_relaxed);
    return nullptr;
  }
  const auto start = reinterpret_cast<uintptr_t>(base) + sizeof(Header);
  auto* block = reinterpret_cast<char*>((start + alignment - 1) / alignment * alignment);
  new (block - sizeof(Header)) Header{base, size, taken, allocator};
  return block;
}

Header* header_of(void* memory) noexcept {
  return reinterpret_cast<Header*>(static_cast<char*>(memory) - sizeof(Header));
}

// The names of OMP_ALLOCATOR, in the order of their handles.
constexpr const char* kNames[] = {"omp_default_mem_alloc", "omp_large_cap_mem_alloc", "omp_const_mem_alloc",
                                  "omp_high_bw_mem_alloc", "omp_low_lat_mem_alloc",   "omp_cgroup_mem_alloc",
                                  "omp_pteam_mem_alloc",   "omp_thread_mem_alloc"};

AllocatorHandle read_variable() noexcept {
  const char* text = base::options().allocator.value;
  if (text == nullptr) return kDefaultMemAlloc;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (std::strcmp(text, kNames[i]) == 0) return i + 1;
  }
  base::warn("OMP_ALLOCATOR=%.60s is not the name of a predefined allocator; omp_default_mem_alloc is used", text);
  return kDefaultMemAlloc;
}

}  // namespace

AllocatorHandle initial_allocator() noexcept {
  static const AllocatorHandle handle = read_variable();
  return handle;
}

AllocatorHandle make_allocator(uintptr_t memory_space, int count, const AllocatorTrait* traits) noexcept {
  if (!is_memory_space(memory_space)) return kNullAllocator;
  auto* allocator = new (std::nothrow) Allocator;
  if (allocator == nullptr) return kNullAllocator;
  for (int i = 0; i < count; ++i) {
    if (set_trait(allocator, traits[i].key, traits[i].value)) continue;
    delete allocator;
    return kNullAllocator;
  }
  return reinterpret_cast<AllocatorHandle>(allocator);
}

MemorySpace memory_space_of(bool is_host, MemorySpace space) noexcept {
  return is_host && is_memory_space(space) ? space : kNullMemorySpace;
}

// The allocators stand in the order of the spaces, from 1 on.
AllocatorHandle allocator_of_space(bool is_host, MemorySpace space) noexcept {
  if (!is_host || !is_memory_space(space)) return kNullAllocator;
  return space == kDefaultOfLibomp ? kDefaultMemAlloc : space + 1;
}

int memory_resources(MemorySpace space) noexcept { return is_memory_space(space) ? 1 : 0; }

MemorySpace submemory_space(MemorySpace space, int count, const int* resources) noexcept {
  const bool has_them =
      count > 0 && std::all_of(resources, resources + count, [](int resource) { return resource == 0; });
  return has_them && is_memory_space(space) ? space : kNullMemorySpace;
}

void destroy_allocator(AllocatorHandle handle) noexcept { delete allocator_of(handle); }

namespace {

void* allocate_in_place_of(const Header* replaced, AllocatorHandle handle, size_t alignment, size_t size,
                           bool zeroed) noexcept {
  if (size == 0 || (alignment != 0 && !std::has_single_bit(alignment))) return nullptr;
  if (handle == kNullAllocator) handle = icvs(self()).allocator;
  for (;;) {
    Allocator* allocator = allocator_of(handle);
    if (void* block = try_allocate(allocator, alignment, size, zeroed, replaced)) return block;
    if (allocator == nullptr) return nullptr;
    switch (allocator->fallback) {
      case kNull: return nullptr;
      case kAbort: base::fatal("an allocator whose fallback is to abort has no %zu bytes", size);
      case kAllocator: handle = allocator->fallback_allocator; break;
      default: handle = kDefaultMemAlloc; break;
    }
    if (handle == kNullAllocator) return nullptr;
  }
}

}  // namespace

void* allocate(AllocatorHandle handle, size_t alignment, size_t size, bool zeroed) noexcept {
  return allocate_in_place_of(nullptr, handle, alignment, size, zeroed);
}

void* allocate_array(AllocatorHandle handle, size_t alignment, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  return allocate(handle, alignment, bytes, true);
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  const Header header = *header_of(memory);
  give_to_system(header);
  if (header.allocator != nullptr) header.allocator->used.fetch_sub(header.taken, std::memory_order_relaxed);
}

void* reallocate(void* memory, AllocatorHandle handle, size_t size) noexcept {
  if (memory == nullptr) return allocate(handle, 0, size, false);
  if (size == 0) {
    release(memory);
    return nullptr;
  }
  const Header* header = header_of(memory);
  if (handle == kNullAllocator) {
    handle = header->allocator != nullptr ? reinterpret_cast<AllocatorHandle>(header->allocator) : kDefaultMemAlloc;
  }
  void* moved = allocate_in_place_of(header, handle, 0, size, false);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, memory, std::min(size, header->size));
  release(memory);
  return moved;
}

}  // namespace weft::openmp
