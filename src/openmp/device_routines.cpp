// SPDX-License-Identifier: Apache-2.0
// The device memory, tool, resource and interoperability routines (OpenMP 5.2, sections 18.6 to 18.8, 18.12, 18.14)
// where the host is the only device: its memory is the device's, and there is nothing to pause, to tell or to query.
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "openmp/abi/abi.h"
#include "openmp/ompt/events.h"
#include "openmp/team.h"

using namespace weft::openmp;

namespace {

constexpr int kHost = 0;  // what omp_get_initial_device answers

// Copies a box, the last dimension contiguous.
void copy_box(char* to, const char* from, size_t element, int dimensions, const size_t* volume,
              const size_t* to_offsets, const size_t* from_offsets, const size_t* to_sizes, const size_t* from_sizes) {
  size_t to_stride = element;
  size_t from_stride = element;
  for (int i = 1; i < dimensions; ++i) {
    to_stride *= to_sizes[i];
    from_stride *= from_sizes[i];
  }
  to += to_offsets[0] * to_stride;
  from += from_offsets[0] * from_stride;
  if (dimensions == 1) {
    std::memcpy(to, from, volume[0] * element);
    return;
  }
  for (size_t i = 0; i < volume[0]; ++i) {
    copy_box(to + i * to_stride, from + i * from_stride, element, dimensions - 1, volume + 1, to_offsets + 1,
             from_offsets + 1, to_sizes + 1, from_sizes + 1);
  }
}

}  // namespace

WEFT_ABI void* weft_abi_omp_target_alloc(size_t size, int device) {
  return device == kHost ? std::malloc(size) : nullptr;
}
WEFT_ABI_EXPORT(omp_target_alloc);

WEFT_ABI void weft_abi_omp_target_free(void* memory, int device) {
  if (device == kHost) std::free(memory);
}
WEFT_ABI_EXPORT(omp_target_free);

WEFT_ABI int weft_abi_omp_target_is_present(const void*, int device) { return device == kHost ? 1 : 0; }
WEFT_ABI_EXPORT(omp_target_is_present);

WEFT_ABI int weft_abi_omp_target_memcpy(void* to, const void* from, size_t length, size_t to_offset, size_t from_offset,
                                        int to_device, int from_device) {
  if (to_device != kHost || from_device != kHost) return EINVAL;
  std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, length);
  return 0;
}
WEFT_ABI_EXPORT(omp_target_memcpy);

// Two null addresses ask how many dimensions there may be.
WEFT_ABI int weft_abi_omp_target_memcpy_rect(void* to, const void* from, size_t element, int dimensions,
                                             const size_t* volume, const size_t* to_offsets, const size_t* from_offsets,
                                             const size_t* to_sizes, const size_t* from_sizes, int to_device,
                                             int from_device) {
  if (to == nullptr && from == nullptr) return INT_MAX;
  if (to_device != kHost || from_device != kHost || dimensions < 1) return EINVAL;
  copy_box(static_cast<char*>(to), static_cast<const char*>(from), element, dimensions, volume, to_offsets,
           from_offsets, to_sizes, from_sizes);
  return 0;
}
WEFT_ABI_EXPORT(omp_target_memcpy_rect);

// No device memory to tie host memory to.
WEFT_ABI int weft_abi_omp_target_associate_ptr(const void*, const void*, size_t, size_t, int) { return EINVAL; }
WEFT_ABI_EXPORT(omp_target_associate_ptr);

WEFT_ABI int weft_abi_omp_target_disassociate_ptr(const void*, int) { return EINVAL; }
WEFT_ABI_EXPORT(omp_target_disassociate_ptr);

WEFT_ABI int weft_abi_omp_pause_resource(int, int) { return 0; }
WEFT_ABI_EXPORT(omp_pause_resource);

WEFT_ABI int weft_abi_omp_pause_resource_(const int*, const int*) { return 0; }
WEFT_ABI_EXPORT(omp_pause_resource_);

WEFT_ABI int weft_abi_omp_pause_resource_all(int) { return 0; }
WEFT_ABI_EXPORT(omp_pause_resource_all);

WEFT_ABI int weft_abi_omp_pause_resource_all_(const int*) { return 0; }
WEFT_ABI_EXPORT(omp_pause_resource_all_);

namespace {

int control_tool(int command, int modifier, void* argument, const void* caller) {
  constexpr int kNoTool = -2;
  if (!ompt::on()) return kNoTool;
  return ompt::control(static_cast<uint64_t>(command), static_cast<uint64_t>(modifier), argument, caller);
}

}  // namespace

WEFT_ABI int weft_abi_omp_control_tool(int command, int modifier, void* argument) {
  return control_tool(command, modifier, argument, WEFT_CALLER);
}
WEFT_ABI_EXPORT(omp_control_tool);

WEFT_ABI int weft_abi_omp_control_tool_(const int* command, const int* modifier, void* argument) {
  return control_tool(*command, *modifier, argument, WEFT_CALLER);
}
WEFT_ABI_EXPORT(omp_control_tool_);

WEFT_ABI int weft_abi_omp_in_explicit_task() { return self()->task->implicit ? 0 : 1; }
WEFT_ABI_EXPORT(omp_in_explicit_task);

WEFT_ABI int weft_abi_omp_in_explicit_task_() { return weft_abi_omp_in_explicit_task(); }
WEFT_ABI_EXPORT(omp_in_explicit_task_);
