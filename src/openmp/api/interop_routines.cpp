// SPDX-License-Identifier: Apache-2.0
// Interoperability routines (OpenMP 5.2, section 18.12). There is no device with a runtime of its own, so the only
// object is omp_interop_none, which has no properties.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "openmp/abi/abi.h"

namespace {

// omp_interop_property_t: from -1 down.
constexpr std::array<const char*, 9> kProperties = {
    "fr_id", "fr_name", "vendor", "vendor_name", "device_num", "platform", "device", "device_context", "targetsync"};
// omp_interop_rc_t: from 1 down.
constexpr std::array<const char*, 8> kCodes = {"no meaningful value available",
                                               "success",
                                               "the object is omp_interop_none",
                                               "there is no property of that number",
                                               "the property is an integer: call omp_get_interop_int",
                                               "the property is a pointer: call omp_get_interop_ptr",
                                               "the property is a text: call omp_get_interop_str",
                                               "other error"};
constexpr int kEmpty = -1;
constexpr int kOutOfRange = -2;

const char* name_of(int property) noexcept {
  const auto index = static_cast<size_t>(-1 - property);
  return property < 0 && index < kProperties.size() ? kProperties[index] : nullptr;
}

const char* text_of(int code) noexcept {
  const auto index = static_cast<size_t>(1 - code);
  return code <= 1 && index < kCodes.size() ? kCodes[index] : nullptr;
}

void refuse(int property, int* code) noexcept {
  if (code != nullptr) *code = name_of(property) != nullptr ? kEmpty : kOutOfRange;
}

// gfortran: a text goes back as a pointer and a length.
void return_text(const char* text, const char** result, size_t* length) noexcept {
  *result = text;
  *length = text != nullptr ? std::strlen(text) : 0;
}

}  // namespace

WEFT_ABI(int, omp_get_num_interop_properties)(const void*) { return 0; }

WEFT_ABI(intptr_t, omp_get_interop_int)(const void*, int property, int* code) {
  refuse(property, code);
  return 0;
}

WEFT_ABI(void*, omp_get_interop_ptr)(const void*, int property, int* code) {
  refuse(property, code);
  return nullptr;
}

WEFT_ABI(const char*, omp_get_interop_str)(const void*, int property, int* code) {
  refuse(property, code);
  return nullptr;
}

WEFT_ABI(const char*, omp_get_interop_name)(const void*, int property) { return name_of(property); }

WEFT_ABI(const char*, omp_get_interop_type_desc)(const void*, int) { return nullptr; }

WEFT_ABI(const char*, omp_get_interop_rc_desc)(const void*, int code) { return text_of(code); }

// ---- Fortran, arguments by reference; that libomp has all of these and no interface for them leaves gfortran's ----

WEFT_ABI(int, omp_get_num_interop_properties_)(const void*) { return 0; }

WEFT_ABI(intptr_t, omp_get_interop_int_)(const void*, const int* property, int* code) {
  refuse(*property, code);
  return 0;
}

WEFT_ABI(void*, omp_get_interop_ptr_)(const void*, const int* property, int* code) {
  refuse(*property, code);
  return nullptr;
}

WEFT_ABI(void, omp_get_interop_str_)(const char** result, size_t* length, const void*, const int* property, int* code) {
  refuse(*property, code);
  return_text(nullptr, result, length);
}

WEFT_ABI(void, omp_get_interop_name_)(const char** result, size_t* length, const void*, const int* property) {
  return_text(name_of(*property), result, length);
}

WEFT_ABI(void, omp_get_interop_type_desc_)(const char** result, size_t* length, const void*, const int*) {
  return_text(nullptr, result, length);
}

WEFT_ABI(void, omp_get_interop_rc_desc_)(const char** result, size_t* length, const void*, const int* code) {
  return_text(text_of(*code), result, length);
}
