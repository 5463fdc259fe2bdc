// SPDX-License-Identifier: Apache-2.0
// KMP: threadprivate variables as calls. icc and ifort emit them, and clang with -fnoopenmp-use-tls.
#include "openmp/team/threadprivate.h"

#include "openmp/kmp/kmp.h"

using namespace weft::openmp::kmp;
using namespace weft::openmp::threadprivate;
namespace threadprivate = weft::openmp::threadprivate;

WEFT_ABI(void*, __kmpc_threadprivate)(Ident*, int32_t, void* address, size_t size) {
  return copy_of(address, address, size)->copy;
}

// The cache would be looked at by the number of a thread, which threads of different teams share here: it stays empty.
WEFT_ABI(void*, __kmpc_threadprivate_cached)(Ident*, int32_t, void* address, size_t size, void***) {
  return copy_of(address, address, size)->copy;
}

WEFT_ABI(void, __kmpc_threadprivate_register)(Ident*, const void* address, threadprivate::Construct construct,
                                              CopyConstruct copy_construct, Destroy destroy) {
  describe(address, construct, copy_construct, destroy);
}

WEFT_ABI(void, __kmpc_threadprivate_register_vec)(Ident*, const void* address, ConstructAll construct,
                                                  CopyConstructAll copy_construct, DestroyAll destroy, size_t count) {
  describe_array(address, construct, copy_construct, destroy, count);
}

// ---- of libomp's own, exported by accident ----

WEFT_ABI(void, kmp_threadprivate_insert_private_data)(int, void* address, void* from, size_t size) {
  note_original(address, from, size);
}

WEFT_ABI(Copy*, kmp_threadprivate_insert)(int, void* address, void* from, size_t size) {
  return copy_of(address, from, size);
}
