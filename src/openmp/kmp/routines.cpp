// SPDX-License-Identifier: Apache-2.0
// The kmp_ routines of LLVM's and Intel's runtimes: extensions that programs written for them call. How long threads
// spin and which "library" they use are weft's own business: what is set is accepted, and what is asked for answered
// as that runtime would.
#include <climits>
#include <cstddef>
#include <cstdint>

#include "base/options.h"
#include "openmp/abi/abi.h"
#include "openmp/memory.h"

using namespace weft;
using namespace weft::openmp;

namespace {

constexpr int kThroughput = 2;       // the library
constexpr size_t kStackSize = 4u << 20;

// Milliseconds that a waiting thread spins.
int block_time() noexcept {
  switch (base::options().wait_policy) {
    case base::WaitPolicy::active: return INT_MAX;
    case base::WaitPolicy::passive: return 0;
    default: return 200;
  }
}

size_t stack_size() noexcept {
  const long bytes = base::options().stack_size.bytes;
  return bytes > 0 ? static_cast<size_t>(bytes) : kStackSize;
}

}  // namespace

// C, and Fortran with arguments by reference.
#define WEFT_KMP_GETTER(type, name, value)             \
  WEFT_ABI type weft_abi_##name() { return value; }    \
  WEFT_ABI_EXPORT(name);                               \
  WEFT_ABI type weft_abi_##name##_() { return value; } \
  WEFT_ABI_EXPORT(name##_)
#define WEFT_KMP_SETTER(type, name)          \
  WEFT_ABI void weft_abi_##name(type) {}     \
  WEFT_ABI_EXPORT(name);                     \
  WEFT_ABI void weft_abi_##name##_(type*) {} \
  WEFT_ABI_EXPORT(name##_)
#define WEFT_KMP_NOTHING(name)          \
  WEFT_ABI void weft_abi_##name() {}    \
  WEFT_ABI_EXPORT(name);                \
  WEFT_ABI void weft_abi_##name##_() {} \
  WEFT_ABI_EXPORT(name##_)

WEFT_KMP_GETTER(int, kmp_get_blocktime, block_time());
WEFT_KMP_GETTER(int, kmp_get_library, kThroughput);
WEFT_KMP_GETTER(int, kmp_get_stacksize, static_cast<int>(stack_size()));
WEFT_KMP_GETTER(size_t, kmp_get_stacksize_s, stack_size());
WEFT_KMP_SETTER(int, kmp_set_blocktime);
WEFT_KMP_SETTER(int, kmp_set_library);
WEFT_KMP_SETTER(int, kmp_set_stacksize);
WEFT_KMP_SETTER(size_t, kmp_set_stacksize_s);
WEFT_KMP_SETTER(int, kmp_set_disp_num_buffers);
WEFT_KMP_NOTHING(kmp_set_library_serial);
WEFT_KMP_NOTHING(kmp_set_library_throughput);
WEFT_KMP_NOTHING(kmp_set_library_turnaround);
WEFT_KMP_NOTHING(kmp_set_warnings_off);
WEFT_KMP_NOTHING(kmp_set_warnings_on);

// ---- memory ----

WEFT_ABI void* weft_abi_kmp_malloc(size_t size) { return allocate(kDefaultMemAlloc, 0, size, false); }
WEFT_ABI_EXPORT(kmp_malloc);

WEFT_ABI void* weft_abi_kmp_aligned_malloc(size_t size, size_t alignment) {
  return allocate(kDefaultMemAlloc, alignment, size, false);
}
WEFT_ABI_EXPORT(kmp_aligned_malloc);

WEFT_ABI void* weft_abi_kmp_calloc(size_t count, size_t size) {
  return allocate_array(kDefaultMemAlloc, 0, count, size);
}
WEFT_ABI_EXPORT(kmp_calloc);

WEFT_ABI void* weft_abi_kmp_realloc(void* memory, size_t size) { return reallocate(memory, kDefaultMemAlloc, size); }
WEFT_ABI_EXPORT(kmp_realloc);

WEFT_ABI void weft_abi_kmp_free(void* memory) { release(memory); }
WEFT_ABI_EXPORT(kmp_free);

WEFT_ABI void* weft_abi_kmp_malloc_(const size_t* size) { return allocate(kDefaultMemAlloc, 0, *size, false); }
WEFT_ABI_EXPORT(kmp_malloc_);

WEFT_ABI void* weft_abi_kmp_aligned_malloc_(const size_t* size, const size_t* alignment) {
  return allocate(kDefaultMemAlloc, *alignment, *size, false);
}
WEFT_ABI_EXPORT(kmp_aligned_malloc_);

WEFT_ABI void* weft_abi_kmp_calloc_(const size_t* count, const size_t* size) {
  return allocate_array(kDefaultMemAlloc, 0, *count, *size);
}
WEFT_ABI_EXPORT(kmp_calloc_);

WEFT_ABI void* weft_abi_kmp_realloc_(void** memory, const size_t* size) {
  return reallocate(*memory, kDefaultMemAlloc, *size);
}
WEFT_ABI_EXPORT(kmp_realloc_);

WEFT_ABI void weft_abi_kmp_free_(void** memory) { release(*memory); }
WEFT_ABI_EXPORT(kmp_free_);
