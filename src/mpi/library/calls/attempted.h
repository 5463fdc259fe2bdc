// SPDX-License-Identifier: Apache-2.0
// Converts MPI_X(A..., B...): calls MPI_Y(A..., int* flag, B...) until the flag says that there is something.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "mpi/library/diagnostics/call.h"
#include "mpi/library/diagnostics/plain.h"
#include "mpi/library/runtime.h"
#include "mpi/library/wait/wait.h"

namespace weft::mpi {

// `flag`: its place among the arguments of `attempt`.
template <auto plain, auto attempt, size_t flag>
struct Attempted;

template <class... P, int (*plain)(P...), auto attempt, size_t flag>
struct Attempted<plain, attempt, flag> {
  static int call(P... passed) noexcept { return call_from(__builtin_return_address(0), passed...); }

  static int call_from(const void* caller, P... passed) noexcept {
    const Runtime* runtime = converting();
    const std::tuple<P...> arguments{passed...};
    if (runtime == nullptr) return call_plain(describe, arguments, caller, [=] { return plain(passed...); });
    Attempts attempts{arguments};
    wait_until(*runtime, &Attempts::make, &attempts, {describe, &attempts.arguments, caller});
    return attempts.code;
  }

 private:
  static void describe(const void* given, Description& into) noexcept {
    const auto& arguments = *static_cast<const std::tuple<P...>*>(given);
    into.name = kNameOf<plain>;
    if constexpr (is_named<plain>("MPI_Probe") || is_named<plain>("MPI_Mprobe")) {
      into.peer = std::get<0>(arguments);
      into.tag = std::get<1>(arguments);
      into.communicator = std::get<2>(arguments);
    } else if constexpr (is_named<plain>("MPI_Wait")) {
      into.requests = std::get<0>(arguments);
    }
  }

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
