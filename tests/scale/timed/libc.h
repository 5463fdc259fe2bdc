// SPDX-License-Identifier: Apache-2.0
// Functions that take libc's place are in libc.cpp.
#pragma once

#include <dlfcn.h>

// libc's own function.
#define REAL(name)                                                                         \
  ([] {                                                                                    \
    static decltype(&::name) kept = nullptr;                                               \
    if (kept == nullptr) kept = reinterpret_cast<decltype(kept)>(dlsym(RTLD_NEXT, #name)); \
    return kept;                                                                           \
  }())
