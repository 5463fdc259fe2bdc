// SPDX-License-Identifier: Apache-2.0
// KMP: locks under the names that Intel's compilers use; the program brings a pointer's worth of memory for each.
#include "openmp/kmp/kmp.h"

using namespace weft::openmp::kmp;

// Defined with the omp_ routines.
extern "C" {
void weft_abi_omp_init_lock(void* lock);
void weft_abi_omp_destroy_lock(void* lock);
void weft_abi_omp_set_lock(void* lock);
void weft_abi_omp_unset_lock(void* lock);
int weft_abi_omp_test_lock(void* lock);
void weft_abi_omp_init_nest_lock(void* lock);
void weft_abi_omp_destroy_nest_lock(void* lock);
void weft_abi_omp_set_nest_lock(void* lock);
void weft_abi_omp_unset_nest_lock(void* lock);
int weft_abi_omp_test_nest_lock(void* lock);
}

#define WEFT_KMP_LOCK(name)                                                                                 \
  WEFT_ABI(void, __kmpc_init_##name)(Ident*, int32_t, void* lock) { weft_abi_omp_init_##name(lock); }       \
  WEFT_ABI(void, __kmpc_init_##name##_with_hint)(Ident*, int32_t, void* lock, uintptr_t) {                  \
    weft_abi_omp_init_##name(lock);                                                                         \
  }                                                                                                         \
  WEFT_ABI(void, __kmpc_destroy_##name)(Ident*, int32_t, void* lock) { weft_abi_omp_destroy_##name(lock); } \
  WEFT_ABI(void, __kmpc_set_##name)(Ident*, int32_t, void* lock) { weft_abi_omp_set_##name(lock); }         \
  WEFT_ABI(void, __kmpc_unset_##name)(Ident*, int32_t, void* lock) { weft_abi_omp_unset_##name(lock); }     \
  WEFT_ABI(int, __kmpc_test_##name)(Ident*, int32_t, void* lock) { return weft_abi_omp_test_##name(lock); }

WEFT_KMP_LOCK(lock);
WEFT_KMP_LOCK(nest_lock);
