// SPDX-License-Identifier: Apache-2.0
// Routines for C and for Fortran, whose arguments come by reference: `name` is C's, `name_` Fortran's, and `name_8_`
// Fortran's with -fdefault-integer-8. An expression that a macro takes stands in the function that the program calls,
// so __builtin_return_address(0) is the program's code. This file belongs to the sources that
// src/openmp/abi/generate.py scans.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>

#include "openmp/abi/abi.h"

namespace weft::openmp {

// Fortran's 8-byte integers: what is out of range stays so.
inline int narrow(int64_t value) noexcept { return static_cast<int>(std::clamp<int64_t>(value, INT_MIN, INT_MAX)); }

}  // namespace weft::openmp

// No argument.
#define WEFT_ROUTINE_GET(type, name, value) \
  WEFT_ABI(type, name)() { return value; }  \
  WEFT_ABI(type, name##_)() { return value; }

// No argument and no result.
#define WEFT_ROUTINE_DO(name, action) \
  WEFT_ABI(void, name)() { action; }  \
  WEFT_ABI(void, name##_)() { action; }

// One argument of any type.
#define WEFT_ROUTINE_SET(type, name, set)          \
  WEFT_ABI(void, name)(type value) { set(value); } \
  WEFT_ABI(void, name##_)(const type* value) { set(*value); }

// One integer, which Fortran may pass in 8 bytes.
#define WEFT_ROUTINE_SET_INT(name, set) \
  WEFT_ROUTINE_SET(int, name, set);     \
  WEFT_ABI(void, name##_8_)(const int64_t* value) { set(narrow(*value)); }

// The same with a result.
#define WEFT_ROUTINE_GET_BY_INT(type, name, get)                        \
  WEFT_ABI(type, name)(int value) { return get(value); }                \
  WEFT_ABI(type, name##_)(const int32_t* value) { return get(*value); } \
  WEFT_ABI(type, name##_8_)(const int64_t* value) { return get(narrow(*value)); }
