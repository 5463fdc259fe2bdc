// SPDX-License-Identifier: Apache-2.0
// Code of OpenBLAS or MKL that is linked into a program or another library: where it lies, by the names that the file
// has kept. And where an OpenBLAS keeps a number of threads that it asks nobody for.
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

// The function by which MKL asks for a number of threads; empty where there is none.
CodeRange find_question_of_mkl(const char* file) noexcept;

// From version 0.3.32 on, openblas_set_num_threads() makes the library open its regions without a question, for as many
// members as it has been told. Two variables of type int, at addresses as the file has them; 0: it has no such.
struct OwnCount {
  uintptr_t is_set = 0;
  uintptr_t threads = 0;
};
OwnCount find_own_count(const char* file) noexcept;

}  // namespace weft::openmp
