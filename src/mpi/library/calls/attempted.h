// SPDX-License-Identifier: Apache-2.0
// MPI_X(A..., B...) by calls of MPI_Y(A..., int* flag, B...) until the flag says that there is something.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "mpi/library/runtime.h"
#include "mpi/library/wait/wait.h"

namespace weft::mpi {

// `flag`: its place among the arguments of `attempt`.
template <auto plain, auto attempt, size_t flag>
struct Attempted;

template <class... P, int (*plain)(P...), auto attempt, size_t flag>
struct Attempted<plain, attempt, flag> {
  static int call(P... passed) noexcept {
    const Runtime* runtime = converting();
    if (runtime == nullptr) return plain(passed...);
    Attempts attempts{.arguments = std::tuple<P...>{passed...}};
    wait_until(*runtime, &Attempts::make, &attempts);
    return attempts.code;
  }

 private:
  struct Attempts {
    std::tuple<P...> arguments;
    int code = MPI_SUCCESS;

    template <size_t... before, size_t... behind>
    bool once(std::index_sequence<before...>, std::index_sequence<behind...>) noexcept {
      int found = 0;
      code = attempt(std::get<before>(arguments)..., &found, std::get<flag + behind>(arguments)...);
      return found != 0 || code != MPI_SUCCESS;
    }
    static bool make(void* self) noexcept {
      return static_cast<Attempts*>(self)->once(std::make_index_sequence<flag>(),
                                                std::make_index_sequence<sizeof...(P) - flag>());
    }
  };
};

}  // namespace weft::mpi
