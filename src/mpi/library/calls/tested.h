// SPDX-License-Identifier: Apache-2.0
// Calls that test whether something has come. Programs make them in loops: a test that finds nothing lets others run.
#pragma once

#include <cstddef>
#include <tuple>

#include "mpi/library/inside.h"
#include "mpi/library/mpi.h"
#include "mpi/library/runtime.h"

namespace weft::mpi {

// `found`: the place of the int* that says whether something has come, or how many.
template <auto plain, size_t found>
struct Tested;

template <class... P, int (*plain)(P...), size_t found>
struct Tested<plain, found> {
  static int call(P... passed) noexcept {
    const Runtime* runtime = converting();
    if (runtime == nullptr) return plain(passed...);
    int code;
    {
      const Inside inside;
      code = plain(passed...);
    }
    const int* flag = std::get<found>(std::tuple<P...>{passed...});
    if (code == MPI_SUCCESS && *flag == 0) runtime->yield();
    return code;
  }
};

// Calls that do not wait for others, but call back: what they call back is not converted.
template <auto plain>
struct InPlace;

template <class... P, int (*plain)(P...)>
struct InPlace<plain> {
  static int call(P... passed) noexcept {
    const Inside inside;
    return plain(passed...);
  }
};

}  // namespace weft::mpi
