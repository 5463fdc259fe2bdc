// SPDX-License-Identifier: Apache-2.0
// The kmp_ routines of LLVM's and Intel's runtimes: extensions that programs written for them call.
#include <algorithm>
#include <climits>
#include <cstddef>

#include "base/message.h"
#include "openmp/api/fortran.h"
#include "openmp/api/memory.h"
#include "openmp/settings/tuning.h"

using namespace weft;
using namespace weft::openmp;

namespace {

void choose_library(int number) noexcept {
  if (number >= static_cast<int>(Library::serial) && number <= static_cast<int>(Library::throughput)) {
    return set_library(static_cast<Library>(number));
  }
  base::warn("kmp_set_library(%d): there is 1 (serial), 2 (turnaround) and 3 (throughput); it is ignored", number);
}

void choose_stack_size(int bytes) noexcept { set_stack_size(static_cast<size_t>(std::max(bytes, 0))); }

int shown_stack_size() noexcept { return static_cast<int>(std::min(stack_size(), size_t{INT_MAX})); }

}  // namespace

WEFT_ROUTINE_GET(int, kmp_get_blocktime, block_time());
WEFT_ROUTINE_GET(int, kmp_get_library, static_cast<int>(library()));
WEFT_ROUTINE_GET(int, kmp_get_stacksize, shown_stack_size());
WEFT_ROUTINE_GET(size_t, kmp_get_stacksize_s, stack_size());
WEFT_ROUTINE_SET(int, kmp_set_blocktime, set_block_time);
WEFT_ROUTINE_SET(int, kmp_set_library, choose_library);
WEFT_ROUTINE_SET(int, kmp_set_stacksize, choose_stack_size);
WEFT_ROUTINE_SET(size_t, kmp_set_stacksize_s, set_stack_size);
WEFT_ROUTINE_DO(kmp_set_library_serial, set_library(Library::serial));
WEFT_ROUTINE_DO(kmp_set_library_throughput, set_library(Library::throughput));
WEFT_ROUTINE_DO(kmp_set_library_turnaround, set_library(Library::turnaround));

// Of tables and messages that are not there.
WEFT_ROUTINE_SET(int, kmp_set_disp_num_buffers, static_cast<void>);
WEFT_ROUTINE_DO(kmp_set_warnings_off, );
WEFT_ROUTINE_DO(kmp_set_warnings_on, );

// ---- memory ----

WEFT_ABI(void*, kmp_malloc)(size_t size) { return allocate(kDefaultMemAlloc, 0, size, false); }

WEFT_ABI(void*, kmp_aligned_malloc)(size_t size, size_t alignment) {
  return allocate(kDefaultMemAlloc, alignment, size, false);
}

WEFT_ABI(void*, kmp_calloc)(size_t count, size_t size) { return allocate_array(kDefaultMemAlloc, 0, count, size); }

WEFT_ABI(void*, kmp_realloc)(void* memory, size_t size) { return reallocate(memory, kDefaultMemAlloc, size); }

WEFT_ABI(void, kmp_free)(void* memory) { release(memory); }

WEFT_ABI(void*, kmp_malloc_)(const size_t* size) { return allocate(kDefaultMemAlloc, 0, *size, false); }

WEFT_ABI(void*, kmp_aligned_malloc_)(const size_t* size, const size_t* alignment) {
  return allocate(kDefaultMemAlloc, *alignment, *size, false);
}

WEFT_ABI(void*, kmp_calloc_)(const size_t* count, const size_t* size) {
  return allocate_array(kDefaultMemAlloc, 0, *count, *size);
}

WEFT_ABI(void*, kmp_realloc_)(void** memory, const size_t* size) {
  return reallocate(*memory, kDefaultMemAlloc, *size);
}

WEFT_ABI(void, kmp_free_)(void** memory) { release(*memory); }
