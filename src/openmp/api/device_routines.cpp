// SPDX-License-Identifier: Apache-2.0
// The device, resource and tool routines (OpenMP 5.2, sections 18.6 to 18.8, 18.14) where the host is the only device:
// its memory is the device's, and there is nothing to pause or to tell.
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "openmp/api/device.h"
#include "openmp/api/fortran.h"
#include "openmp/api/pause.h"
#include "openmp/record/team.h"
#include "openmp/settings/icv.h"
#include "openmp/tool/events.h"

using namespace weft::openmp;

namespace {

constexpr char kHostUid[] = "OMP_INITIAL_DEVICE";

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

// ---- which device ----

WEFT_ROUTINE_GET(int, omp_get_num_procs, num_procs());
WEFT_ROUTINE_GET(int, omp_get_num_devices, 0);
WEFT_ROUTINE_GET(int, omp_get_initial_device, kHost);
WEFT_ROUTINE_GET(int, omp_get_device_num, kHost);
WEFT_ROUTINE_GET(int, omp_is_initial_device, 1);
WEFT_ROUTINE_GET(int, omp_get_default_device, icvs(self()).default_device);

WEFT_ABI(void, omp_set_default_device)(int device) { own_icvs(self()).default_device = as_default_device(device); }

WEFT_ABI(void, omp_set_default_device_)(const int32_t* device) { weft_abi_omp_set_default_device(*device); }

WEFT_ABI(void, omp_set_default_device_8_)(const int64_t* device) {
  weft_abi_omp_set_default_device(static_cast<int>(*device));
}

// A name that tells devices apart; libgomp calls the host so.
WEFT_ABI(const char*, omp_get_uid_from_device)(int device) { return is_host(device) ? kHostUid : nullptr; }

WEFT_ABI(int, omp_get_device_from_uid)(const char* uid) {
  return uid != nullptr && std::strcmp(uid, kHostUid) == 0 ? kInitialDevice : kInvalidDevice;
}

// gfortran: a text comes with its length, and goes back as a pointer with it.
WEFT_ABI(int, omp_get_device_from_uid_)(const char* uid, size_t length) {
  return length == sizeof kHostUid - 1 && std::memcmp(uid, kHostUid, length) == 0 ? kInitialDevice : kInvalidDevice;
}

WEFT_ABI(void, omp_get_uid_from_device_)(const char** uid, size_t* length, const int32_t* device) {
  *uid = weft_abi_omp_get_uid_from_device(*device);
  *length = *uid != nullptr ? std::strlen(*uid) : 0;
}

WEFT_ABI(void, omp_get_uid_from_device_8_)(const char** uid, size_t* length, const int64_t* device) {
  const auto number = static_cast<int32_t>(*device);
  weft_abi_omp_get_uid_from_device_(uid, length, &number);
}

// ---- memory ----

WEFT_ABI(void*, omp_target_alloc)(size_t size, int device) { return is_host(device) ? std::malloc(size) : nullptr; }

WEFT_ABI(void, omp_target_free)(void* memory, int device) {
  if (memory != nullptr && is_host(device)) std::free(memory);
}

WEFT_ABI(int, omp_target_is_present)(const void*, int device) { return is_host(device) ? 1 : 0; }

WEFT_ABI(int, omp_target_is_accessible)(const void*, size_t, int device) { return is_host(device) ? 1 : 0; }

WEFT_ABI(void*, omp_get_mapped_ptr)(const void* address, int device) {
  return is_host(device) ? const_cast<void*>(address) : nullptr;
}

WEFT_ABI(int, omp_target_memcpy)(void* to, const void* from, size_t length, size_t to_offset, size_t from_offset,
                                 int to_device, int from_device) {
  if (!is_host(to_device) || !is_host(from_device)) return EINVAL;
  std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, length);
  return 0;
}

// Two null addresses ask how many dimensions there may be.
WEFT_ABI(int, omp_target_memcpy_rect)(void* to, const void* from, size_t element, int dimensions, const size_t* volume,
                                      const size_t* to_offsets, const size_t* from_offsets, const size_t* to_sizes,
                                      const size_t* from_sizes, int to_device, int from_device) {
  if (to == nullptr && from == nullptr) return INT_MAX;
  if (!is_host(to_device) || !is_host(from_device) || dimensions < 1) return EINVAL;
  copy_box(static_cast<char*>(to), static_cast<const char*>(from), element, dimensions, volume, to_offsets,
           from_offsets, to_sizes, from_sizes);
  return 0;
}

WEFT_ABI(void*, omp_target_memset)(void* memory, int value, size_t size, int device) {
  if (is_host(device)) std::memset(memory, value, size);
  return memory;
}

// No device memory to tie host memory to.
WEFT_ABI(int, omp_target_associate_ptr)(const void*, const void*, size_t, size_t, int) { return EINVAL; }

WEFT_ABI(int, omp_target_disassociate_ptr)(const void*, int) { return EINVAL; }

// ---- resources, tools, tasks ----

// The host is the only device; another one has nothing to give back.
WEFT_ABI(int, omp_pause_resource)(int kind, int device) {
  return is_host(device) ? pause_resources(static_cast<Pause>(kind)) : -1;
}

WEFT_ABI(int, omp_pause_resource_)(const int* kind, const int* device) {
  return weft_abi_omp_pause_resource(*kind, *device);
}

WEFT_ABI(int, omp_pause_resource_all)(int kind) { return pause_resources(static_cast<Pause>(kind)); }

WEFT_ABI(int, omp_pause_resource_all_)(const int* kind) { return pause_resources(static_cast<Pause>(*kind)); }

namespace {

int control_tool(int command, int modifier, void* argument, const void* caller) {
  constexpr int kNoTool = -2;
  if (!tool::is_on()) return kNoTool;
  return tool::control(static_cast<uint64_t>(command), static_cast<uint64_t>(modifier), argument, caller);
}

}  // namespace

WEFT_ABI(int, omp_control_tool)(int command, int modifier, void* argument) {
  return control_tool(command, modifier, argument, WEFT_CALLER);
}

WEFT_ABI(int, omp_control_tool_)(const int* command, const int* modifier, void* argument) {
  return control_tool(*command, *modifier, argument, WEFT_CALLER);
}

WEFT_ABI(int, omp_control_tool_8_)(const int64_t*, const int64_t*, void*) { return -2; }

WEFT_ROUTINE_GET(int, omp_in_explicit_task, self()->task->implicit ? 0 : 1);
