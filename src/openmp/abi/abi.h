// SPDX-License-Identifier: Apache-2.0
// How an adapter defines a function that programs link against:
//
//   WEFT_ABI void weft_abi_GOMP_barrier() { ... }
//   WEFT_ABI_EXPORT(GOMP_barrier);
//
// - The definition carries a private name, because the public one stands in several version nodes and not every
//   assembler takes a plain symbol and a versioned one of the same name.
// - WEFT_ABI_EXPORT stands in the same source file: .symver binds only what its own object file defines.
// - WEFT_ABI makes the symbol visible, since its aliases inherit that; weft.map then hides weft_abi_* again, so
//   calls of it inside the library are direct.
// - The source belongs to weft_add_abi() in CMake. A name of the lists that no source exports gets a stub.
// - A macro may produce both (then its parameters make up the name, as in WEFT_ABI_EXPORT(GOMP_##kind##_start)) if
//   it is defined in one of these sources. The scan ignores #if: a name that is exported on some
//   CPUs only needs its own source file, or is missing on the others.
#pragma once

#include "abi_symver.h"

#define WEFT_ABI extern "C" [[gnu::visibility("default")]]

// What the stubs call: says on stderr that the program needs `name`, then aborts.
extern "C" [[noreturn]] void weft_abi_missing(const char* name) noexcept;
