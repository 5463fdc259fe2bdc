// SPDX-License-Identifier: Apache-2.0
// The memory routines (OpenMP 5.2, section 18.13), and what the compilers make of the allocate clause and directive.
#include <algorithm>

#include "base/message.h"
#include "openmp/api/device.h"
#include "openmp/api/fortran.h"
#include "openmp/api/memory.h"
#include "openmp/record/team.h"

using namespace weft;
using namespace weft::openmp;

namespace {

void set_default_allocator(AllocatorHandle handle) noexcept {
  own_icvs(self()).allocator = handle == kNullAllocator ? kDefaultMemAlloc : handle;
}

}  // namespace

WEFT_ABI(AllocatorHandle, omp_init_allocator)(uintptr_t space, int count, const AllocatorTrait* traits) {
  return make_allocator(space, count, traits);
}

WEFT_ROUTINE_SET(AllocatorHandle, omp_destroy_allocator, destroy_allocator);

WEFT_ROUTINE_SET(AllocatorHandle, omp_set_default_allocator, set_default_allocator);

WEFT_ROUTINE_GET(AllocatorHandle, omp_get_default_allocator, icvs(self()).allocator);

WEFT_ABI(void*, omp_alloc)(size_t size, AllocatorHandle handle) { return allocate(handle, 0, size, false); }

WEFT_ABI(void*, omp_aligned_alloc)(size_t alignment, size_t size, AllocatorHandle handle) {
  return allocate(handle, alignment, size, false);
}

WEFT_ABI(void*, omp_calloc)(size_t count, size_t size, AllocatorHandle handle) {
  return allocate_array(handle, 0, count, size);
}

WEFT_ABI(void*, omp_aligned_calloc)(size_t alignment, size_t count, size_t size, AllocatorHandle handle) {
  return allocate_array(handle, alignment, count, size);
}

WEFT_ABI(void*, omp_realloc)(void* memory, size_t size, AllocatorHandle handle, AllocatorHandle) {
  return reallocate(memory, handle, size);
}

WEFT_ABI(void, omp_free)(void* memory, AllocatorHandle) { release(memory); }

// ---- by device (OpenMP 6.0, section 27.1 and others) ----

namespace {

bool is_the_host(int device) noexcept { return device == kHost || device == kInitialDevice; }
bool are_the_host(int count, const int* devices) noexcept {
  return count > 0 && std::all_of(devices, devices + count, is_the_host);
}

}  // namespace

// The routines for devices, with the host among them or without it: there is no other device than the host. `kind`:
// memspace or allocator.
#define WEFT_BY_DEVICE(result, kind, get)                                                                            \
  WEFT_ABI(result, omp_get_devices_##kind)(int count, const int* devices, MemorySpace space) {                       \
    return get(are_the_host(count, devices), space);                                                                 \
  }                                                                                                                  \
  WEFT_ABI(result, omp_get_devices_##kind##_)(const int* count, const int* devices, const MemorySpace* space) {      \
    return get(are_the_host(*count, devices), *space);                                                               \
  }                                                                                                                  \
  WEFT_ABI(result, omp_get_device_##kind)(int device, MemorySpace space) { return get(is_the_host(device), space); } \
  WEFT_ABI(result, omp_get_device_##kind##_)(const int* device, const MemorySpace* space) {                          \
    return get(is_the_host(*device), *space);                                                                        \
  }                                                                                                                  \
  WEFT_ABI(result, omp_get_devices_and_host_##kind)(int count, const int* devices, MemorySpace space) {              \
    return get(are_the_host(count, devices), space);                                                                 \
  }                                                                                                                  \
  WEFT_ABI(result, omp_get_devices_and_host_##kind##_)(const int* count, const int* devices,                         \
                                                       const MemorySpace* space) {                                   \
    return get(are_the_host(*count, devices), *space);                                                               \
  }                                                                                                                  \
  WEFT_ABI(result, omp_get_device_and_host_##kind)(int device, MemorySpace space) {                                  \
    return get(is_the_host(device), space);                                                                          \
  }                                                                                                                  \
  WEFT_ABI(result, omp_get_device_and_host_##kind##_)(const int* device, const MemorySpace* space) {                 \
    return get(is_the_host(*device), *space);                                                                        \
  }                                                                                                                  \
  WEFT_ABI(result, omp_get_devices_all_##kind)(MemorySpace space) { return get(true, space); }                       \
  WEFT_ABI(result, omp_get_devices_all_##kind##_)(const MemorySpace* space) { return get(true, *space); }

WEFT_BY_DEVICE(MemorySpace, memspace, memory_space_of);
WEFT_BY_DEVICE(AllocatorHandle, allocator, allocator_of_space);

WEFT_ABI(int, omp_get_memspace_num_resources)(MemorySpace space) { return memory_resources(space); }
WEFT_ABI(int, omp_get_memspace_num_resources_)(const MemorySpace* space) { return memory_resources(*space); }

WEFT_ABI(MemorySpace, omp_get_submemspace)(MemorySpace space, int count, const int* resources) {
  return submemory_space(space, count, resources);
}
WEFT_ABI(MemorySpace, omp_get_submemspace_)(const MemorySpace* space, const int* count, const int* resources) {
  return submemory_space(*space, *count, resources);
}

// ---- Fortran ----

WEFT_ABI(AllocatorHandle, omp_init_allocator_)(const uintptr_t* space, const int* count, const AllocatorTrait* traits) {
  return make_allocator(*space, *count, traits);
}

WEFT_ABI(AllocatorHandle, omp_init_allocator_8_)(const uintptr_t* space, const int64_t* count,
                                                 const AllocatorTrait* traits) {
  return make_allocator(*space, static_cast<int>(*count), traits);
}

// ---- gcc ----

// The allocate clause: a program has no way to go on without.
WEFT_ABI(void*, GOMP_alloc)(size_t alignment, size_t size, AllocatorHandle handle) {
  void* memory = allocate(handle, alignment, size, false);
  if (memory == nullptr && size > 0) base::lacking("no memory for an allocate clause (%zu bytes)", size);
  return memory;
}

WEFT_ABI(void, GOMP_free)(void* memory, AllocatorHandle) { release(memory); }

// ---- clang ----

WEFT_ABI(void*, __kmpc_alloc)(int, size_t size, AllocatorHandle handle) { return allocate(handle, 0, size, false); }

WEFT_ABI(void*, __kmpc_aligned_alloc)(int, size_t alignment, size_t size, AllocatorHandle handle) {
  return allocate(handle, alignment, size, false);
}

WEFT_ABI(void*, __kmpc_calloc)(int, size_t count, size_t size, AllocatorHandle handle) {
  return allocate_array(handle, 0, count, size);
}

WEFT_ABI(void*, __kmpc_realloc)(int, void* memory, size_t size, AllocatorHandle handle, AllocatorHandle) {
  return reallocate(memory, handle, size);
}

WEFT_ABI(void, __kmpc_free)(int, void* memory, AllocatorHandle) { release(memory); }

WEFT_ABI(AllocatorHandle, __kmpc_init_allocator)(int, uintptr_t space, int count, const AllocatorTrait* traits) {
  return make_allocator(space, count, traits);
}

WEFT_ABI(void, __kmpc_destroy_allocator)(int, AllocatorHandle handle) { destroy_allocator(handle); }

WEFT_ABI(void, __kmpc_set_default_allocator)(int, AllocatorHandle handle) { set_default_allocator(handle); }

WEFT_ABI(AllocatorHandle, __kmpc_get_default_allocator)(int) { return weft_abi_omp_get_default_allocator(); }
