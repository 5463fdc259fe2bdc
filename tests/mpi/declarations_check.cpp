// SPDX-License-Identifier: Apache-2.0
// Prints what declarations_test.py compares: built with an MPI's own mpi.h, and with weft's declarations of its ABI.
#include <cstddef>
#include <cstdio>
#include <type_traits>

#include <dlfcn.h>

#include MPI_HEADER

// The same types of arguments, in the MPI's own header.
#define FUNCTION(name, ...) static_assert(std::is_same_v<decltype(&PMPI_##name), int (*)(__VA_ARGS__)>, #name);
#include "mpi/declarations/functions.def"
#define COUNT int
#define DISPLACEMENT int
#include "mpi/declarations/counted.def"
#undef DISPLACEMENT
#undef COUNT
#undef FUNCTION
// Not every header that is tried has these.
#if !defined(MPI_VERSION) || MPI_VERSION >= 4
#define FUNCTION(name, ...) static_assert(std::is_same_v<decltype(&PMPI_##name##_c), int (*)(__VA_ARGS__)>, #name "_c");
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#include "mpi/declarations/counted.def"
#endif

namespace {

template <class T>
void print(const char* name, T value) {
  if constexpr (std::is_pointer_v<T>) {
    Dl_info found{};
    // A handle of Open MPI's is the address of an object.
    if (dladdr(reinterpret_cast<const void*>(value), &found) != 0 && found.dli_sname != nullptr) {
      std::printf("%s %s\n", name, found.dli_sname);
      return;
    }
    std::printf("%s %p\n", name, reinterpret_cast<const void*>(value));
  } else {
    std::printf("%s %lld\n", name, static_cast<long long>(value));
  }
}

}  // namespace

int main() {
  print("MPI_Status", sizeof(MPI_Status));
  print("MPI_SOURCE", offsetof(MPI_Status, MPI_SOURCE));
  print("MPI_TAG", offsetof(MPI_Status, MPI_TAG));
  print("MPI_ERROR", offsetof(MPI_Status, MPI_ERROR));
  print("MPI_Aint", sizeof(MPI_Aint));
  print("MPI_Count", sizeof(MPI_Count));
  print("MPI_Offset", sizeof(MPI_Offset));
#define CONSTANT(name) print(#name, name);
#include CONSTANTS
}
