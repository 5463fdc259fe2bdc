// SPDX-License-Identifier: Apache-2.0
// GOMP: the device memory routines that take dependences, which libgomp alone has, as the objects of its ABI.
#include <cerrno>
#include <climits>
#include <cstring>

#include "openmp/api/device.h"
#include "openmp/gomp/task.h"

using namespace weft::openmp;
using namespace weft::openmp::gomp;

// Defined with the device routines.
extern "C" {
int weft_abi_omp_target_memcpy(void* to, const void* from, size_t length, size_t to_offset, size_t from_offset,
                               int to_device, int from_device);
int weft_abi_omp_target_memcpy_rect(void* to, const void* from, size_t element, int dimensions, const size_t* volume,
                                    const size_t* to_offsets, const size_t* from_offsets, const size_t* to_sizes,
                                    const size_t* from_sizes, int to_device, int from_device);
}

namespace {

// Submits a task that calls `work()` when its dependences allow.
template <class Work>
void submit(const Work& work, int count, const DependObject* objects) noexcept {
  void* payload = nullptr;
  Task* task = allocate_task(sizeof(Work), alignof(Work), &payload);
  task->data = new (payload) Work(work);
  task->body = [](Task* self) {
    if (!is_dropped(self)) (*static_cast<Work*>(self->data))();
  };
  Dependences dependences;
  for (int i = 0; i < count; ++i) dependences.add(dependence_of(objects[i]));
  submit_task(self(), task, {.dependences = dependences.begin(), .dependence_count = dependences.size()});
  dependences.free_memory();
}

}  // namespace

WEFT_ABI(int, omp_target_memcpy_async)(void* to, const void* from, size_t length, size_t to_offset, size_t from_offset,
                                       int to_device, int from_device, int count, const DependObject* objects) {
  const tool::Entry entry(WEFT_CALLER);
  if (!is_host(to_device) || !is_host(from_device)) return EINVAL;
  submit([=] { weft_abi_omp_target_memcpy(to, from, length, to_offset, from_offset, to_device, from_device); }, count,
         objects);
  return 0;
}

// The arrays that describe the box must last until the task has ended: so OpenMP says.
WEFT_ABI(int, omp_target_memcpy_rect_async)(void* to, const void* from, size_t element, int dimensions,
                                            const size_t* volume, const size_t* to_offsets, const size_t* from_offsets,
                                            const size_t* to_sizes, const size_t* from_sizes, int to_device,
                                            int from_device, int count, const DependObject* objects) {
  const tool::Entry entry(WEFT_CALLER);
  if (to == nullptr && from == nullptr) return INT_MAX;
  if (!is_host(to_device) || !is_host(from_device) || dimensions < 1) return EINVAL;
  submit(
      [=] {
        weft_abi_omp_target_memcpy_rect(to, from, element, dimensions, volume, to_offsets, from_offsets, to_sizes,
                                        from_sizes, to_device, from_device);
      },
      count, objects);
  return 0;
}

WEFT_ABI(void*, omp_target_memset_async)(void* memory, int value, size_t size, int device, int count,
                                         const DependObject* objects) {
  const tool::Entry entry(WEFT_CALLER);
  if (is_host(device)) submit([=] { std::memset(memory, value, size); }, count, objects);
  return memory;
}
