// SPDX-License-Identifier: Apache-2.0
// MPI_X(A..., [MPI_Status*]) by its twin MPI_Ix(A..., MPI_Request*).
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "mpi/library/calls/collective.h"
#include "mpi/library/errors/errors.h"
#include "mpi/library/wait/wait.h"
#include "mpi/library/waits/call.h"
#include "mpi/library/waits/trace.h"

namespace weft::mpi {

// How the arguments say what the call belongs to, and what it is.
template <size_t place>
struct Communicator {
  static void describe(const auto& arguments, Description& into) noexcept {
    into.communicator = std::get<place>(arguments);
  }
  static Origin of(const auto& arguments) noexcept {
    return {.of = Origin::Of::communicator, .communicator = std::get<place>(arguments)};
  }
};
// As `Communicator`.
struct Letter : Communicator<5> {
  static void describe(const auto& arguments, Description& into) noexcept { describe_message(arguments, into); }
};
struct File {
  static void describe(const auto&, Description&) noexcept {}
  static Origin of(const auto& arguments) noexcept {
    keep_errors();
    return {.of = Origin::Of::file, .file = std::get<0>(arguments)};
  }
};
struct Request {
  static void describe(const auto&, Description&) noexcept {}
  static Origin of(const auto&) noexcept { return {}; }
};

// Which threads convert it: any that can be paused; or none, unless all ranks do (collective.h).
struct Alone {
  static const Runtime* converting() noexcept { return mpi::converting(); }
};
struct Together {
  static const Runtime* converting() noexcept { return converting_collectives(); }
};

template <auto plain, auto start, class Which, class What>
struct Started;

template <class... P, int (*plain)(P...), class... S, int (*start)(S...), class Which, class What>
struct Started<plain, start, Which, What> {
  static constexpr size_t kShared = sizeof...(S) - 1;

  static int call(P... passed) noexcept { return call_from(__builtin_return_address(0), passed...); }

  static int call_from(const void* caller, P... passed) noexcept {
    const Runtime* runtime = Which::converting();
    if (runtime == nullptr) return plain(passed...);
    const std::tuple<P...> arguments{passed...};
    const Origin origin = What::of(arguments);
    MPI_Request request = MPI_REQUEST_NULL;
    const int64_t began = start_time();
    const int code = begin(arguments, request, std::make_index_sequence<kShared>());
    if (code != MPI_SUCCESS) return code;
    MPI_Status* status = MPI_STATUS_IGNORE;
    if constexpr (sizeof...(P) == kShared + 1) status = std::get<kShared>(arguments);
    return wait_for(*runtime, request, status, origin, {describe, &arguments, caller, began});
  }

 private:
  static void describe(const void* arguments, Description& into) noexcept {
    into.name = kNameOf<plain>;
    if constexpr (is_named<plain>("MPI_Recv")) into.direction = Description::Direction::received;
    What::describe(*static_cast<const std::tuple<P...>*>(arguments), into);
  }

  template <size_t... i>
  static int begin(const std::tuple<P...>& arguments, MPI_Request& request, std::index_sequence<i...>) noexcept {
    const Inside inside;
    return start(std::get<i>(arguments)..., &request);
  }
};

// The communicator is the last argument that both have.
template <auto plain, auto start>
struct LastShared;
template <class... P, int (*plain)(P...), class... S, int (*start)(S...)>
struct LastShared<plain, start> : Communicator<sizeof...(S) - 2> {};

// Messages, whose other side is the fourth argument. Those of nobody MPI completes at once, and MPICH's requests for
// them say less than its calls.
template <auto plain, auto start>
struct Message;
template <class... P, int (*plain)(P...), auto start>
struct Message<plain, start> {
  static int call(P... passed) noexcept {
    if (std::get<3>(std::tuple<P...>{passed...}) == MPI_PROC_NULL) return plain(passed...);
    return Started<plain, start, Alone, Letter>::call_from(__builtin_return_address(0), passed...);
  }
};
// Collectives.
template <auto plain, auto start>
using Collective = Started<plain, start, Together, LastShared<plain, start>>;

}  // namespace weft::mpi
