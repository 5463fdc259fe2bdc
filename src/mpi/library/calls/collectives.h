// SPDX-License-Identifier: Apache-2.0
// Converts collectives of communicators: by their non-blocking twins; or by a helper, where the ranks may not all
// convert.
#pragma once

#include <cstddef>
#include <tuple>

#include "mpi/library/calls/collective.h"
#include "mpi/library/calls/helped.h"
#include "mpi/library/calls/started.h"
#include "mpi/library/calls/worlds.h"
#include "mpi/library/mpi.h"

namespace weft::mpi {

// The communicator is the last argument that both have, or at `place`.
template <auto plain, auto start, size_t... place>
struct Collective;

template <class... P, int (*plain)(P...), class... S, int (*start)(S...), size_t place>
struct Collective<plain, start, place> {
  static int call(P... passed) noexcept { return call_from(__builtin_return_address(0), passed...); }

  static int call_from(const void* caller, P... passed) noexcept {
    if (converting_collectives() != nullptr && may_span_worlds(std::get<place>(std::tuple<P...>{passed...}))) {
      return Helped<plain, place>::call_from(caller, passed...);
    }
    return Started<plain, start, Together, Communicator<place>>::call_from(caller, passed...);
  }
};

template <auto plain, class... S, int (*start)(S...)>
struct Collective<plain, start> : Collective<plain, start, sizeof...(S) - 2> {};

// Reductions: MPI may call a user's operation whenever it makes progress, on a thread that must not wait or run long.
// So these are made by a helper; all ranks have the same operation, and so decide alike.
bool is_predefined(MPI_Op operation) noexcept;

template <auto plain, auto start, size_t operation>
struct Reduction;

template <class... P, int (*plain)(P...), auto start, size_t operation>
struct Reduction<plain, start, operation> {
  static int call(P... passed) noexcept {
    if (is_predefined(std::get<operation>(std::tuple<P...>{passed...}))) {
      return Collective<plain, start>::call_from(__builtin_return_address(0), passed...);
    }
    return Helped<plain, sizeof...(P) - 1>::call_from(__builtin_return_address(0), passed...);
  }
};

}  // namespace weft::mpi
