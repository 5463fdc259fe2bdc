// SPDX-License-Identifier: Apache-2.0
// An OpenBLAS that is linked into a program or another library: where its code lies, by the names that the file has
// kept.
#pragma once

#include <cstdint>

namespace weft::openmp {

// Addresses as the file has them: begin .. end-1.
struct CodeRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  bool empty() const noexcept { return begin == end; }
  bool holds(uintptr_t address) const noexcept { return begin <= address && address < end; }
};

// Reads the file's symbols. Empty where there is no such OpenBLAS, or where the names have been stripped. The linker
// puts the objects of an archive side by side, so the range reaches from the first function that is known as OpenBLAS's
// to the last one.
CodeRange find_embedded_blas(const char* file) noexcept;

}  // namespace weft::openmp
