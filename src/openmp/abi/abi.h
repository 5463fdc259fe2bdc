// SPDX-License-Identifier: Apache-2.0
// How an adapter defines a function that programs link against:
//
//   WEFT_ABI(void, GOMP_barrier)() { ... }
//
// - The definition carries a private name, weft_abi_GOMP_barrier, because the public one stands in several version
//   nodes and not every assembler takes a plain symbol and a versioned one of the same name.
// - The symbol is visible, since its aliases inherit that; weft.map then hides weft_abi_* again, so calls of it inside
//   the library are direct.
// - The source belongs to weft_add_abi() in CMake. A name of the lists that no source defines gets a stub.
// - A macro may define functions (then its parameters make up the name, as in WEFT_ABI(bool, GOMP_##kind##_start)) if
//   it is defined in one of these sources. The scan ignores #if: a name that is defined on some CPUs only needs its own
//   source file, or is missing on the others.
#pragma once

#include "abi_symver.h"

#define WEFT_ABI(result, name) \
  asm(WEFT_ABI_SYMVER_##name); \
  extern "C" [[gnu::visibility("default")]] result weft_abi_##name

// What the stubs call: says on stderr that the program needs `name`, then aborts.
extern "C" [[noreturn]] void weft_abi_missing(const char* name) noexcept;
