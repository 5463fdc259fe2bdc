// SPDX-License-Identifier: Apache-2.0
// Memory allocators (OpenMP 5.2, sections 6 and 18.13). Every function is thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::openmp {

// omp_allocator_handle_t: 0 null, 1 to 8 predefined, else an Allocator of ours.
using AllocatorHandle = uintptr_t;
inline constexpr AllocatorHandle kNullAllocator = 0;
inline constexpr AllocatorHandle kDefaultMemAlloc = 1;

// omp_memspace_handle_t. libomp counts from release 20 on, where 0 is the null space, the default space as 99.
using MemorySpace = uintptr_t;
inline constexpr MemorySpace kNullMemorySpace = 0;

// The memory space of devices that are all the host, or the null one. All of them are the system's memory.
MemorySpace memory_space_of(bool is_host, MemorySpace space) noexcept;
// The predefined allocator of that space.
AllocatorHandle allocator_of_space(bool is_host, MemorySpace space) noexcept;
// Resources of a space: one. The space of some of them.
int memory_resources(MemorySpace space) noexcept;
MemorySpace submemory_space(MemorySpace space, int count, const int* resources) noexcept;

// omp_alloctrait_t of both compilers.
struct AllocatorTrait {
  int key;
  uintptr_t value;
};

// An allocator with these traits, or the null one when a trait or its value is not one of OpenMP's. All memory spaces
// are the system's memory here.
AllocatorHandle make_allocator(uintptr_t memory_space, int count, const AllocatorTrait* traits) noexcept;
void destroy_allocator(AllocatorHandle handle) noexcept;

// `size` bytes aligned to `alignment` (a power of two, or 0) and to what the allocator says; null for a size of 0, and
// when there is none and the allocator's fallback says so. A null handle stands for def-allocator-var.
void* allocate(AllocatorHandle handle, size_t alignment, size_t size, bool zeroed) noexcept;

// The same for `count` times `size` bytes.
void* allocate_array(AllocatorHandle handle, size_t alignment, size_t count, size_t size) noexcept;

// Frees what allocate() gave; null is nothing.
void release(void* memory) noexcept;

// Moves it to `size` bytes of `handle`. A null `memory` allocates, a size of 0 frees.
void* reallocate(void* memory, AllocatorHandle handle, size_t size) noexcept;

// def-allocator-var of the process (OMP_ALLOCATOR); warns once about a value that says none.
AllocatorHandle initial_allocator() noexcept;

}  // namespace weft::openmp
