// SPDX-License-Identifier: Apache-2.0
// Converts MPI_X(A..., [MPI_Status*]) by its twin MPI_Ix(A..., MPI_Request*).
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "mpi/library/calls/collective.h"
#include "mpi/library/calls/helped.h"
#include "mpi/library/diagnostics/call.h"
#include "mpi/library/diagnostics/plain.h"
#include "mpi/library/diagnostics/trace.h"
#include "mpi/library/errors/errors.h"
#include "mpi/library/wait/wait.h"

namespace weft::mpi {

// The classes below say, by the arguments of a call, which object it belongs to (Origin), and describe it.
template <size_t place>
struct Communicator {
  static constexpr size_t kPlace = place;
  static void describe(const auto& arguments, Description& into) noexcept {
    into.communicator = std::get<place>(arguments);
  }
  static Origin of(const auto& arguments) noexcept {
    return {.of = Origin::Of::communicator, .communicator = std::get<place>(arguments)};
  }
};
// A message: its communicator is the sixth argument.
struct Letter : Communicator<5> {
  static void describe(const auto& arguments, Description& into) noexcept { describe_message(arguments, into); }
};
struct File {
  static constexpr size_t kPlace = 0;
  static void describe(const auto&, Description&) noexcept {}
  static Origin of(const auto& arguments) noexcept { return {.of = Origin::Of::file, .file = std::get<0>(arguments)}; }
};
struct Request {
  static constexpr size_t kPlace = kUnordered;
  static void describe(const auto&, Description&) noexcept {}
  static Origin of(const auto&) noexcept { return {}; }
};

// Which calls are converted. Alone: those of any thread that can be paused. Together: those of a collective, if all
// ranks convert (collective.h).
struct Alone {
  static constexpr bool kCollective = false;
  static const Runtime* converting() noexcept { return mpi::converting(); }
};
struct Together {
  static constexpr bool kCollective = true;
  static const Runtime* converting() noexcept { return converting_collectives(); }
};

template <auto plain, auto start, class Which, class What>
struct Started;

template <class... P, int (*plain)(P...), class... S, int (*start)(S...), class Which, class What>
struct Started<plain, start, Which, What> {
  static constexpr size_t kShared = sizeof...(S) - 1;
  static constexpr bool kHasStatus = sizeof...(P) == kShared + 1;

  static int call(P... passed) noexcept { return call_from(__builtin_return_address(0), passed...); }

  static int call_from(const void* caller, P... passed) noexcept {
    const Runtime* runtime = Which::converting();
    if (__builtin_expect(runtime == nullptr, 1)) return make_plain(caller, passed...);
    return convert(*runtime, caller, {passed...});
  }

 private:
  // A function of its own, so that a program without tasks does not pay for its stack frame.
  [[gnu::noinline]] static int convert(const Runtime& runtime, const void* caller,
                                       const std::tuple<P...>& arguments) noexcept {
    const Origin origin = What::of(arguments);
    MPI_Request request = MPI_REQUEST_NULL;
    const int64_t began = start_time();
    const int code = begin(arguments, request, std::make_index_sequence<kShared>());
    if (code != MPI_SUCCESS) return code;
    return wait_for(runtime, request, status_of(arguments), origin, {describe, &arguments, caller, began});
  }

  [[gnu::always_inline]] static int make_plain(const void* caller, P... passed) noexcept {
    if constexpr (Which::kCollective) {
      const Runtime* helping = helping_with_collective();
      if (helping != nullptr) return Helped<plain, What::kPlace>::call_helped(*helping, caller, passed...);
    }
    const std::tuple<P...> arguments{passed...};
    return call_plain(describe, arguments, caller, status_of(arguments), [=](MPI_Status* status) {
      if constexpr (Which::kCollective) {
        // MPI may call back from a place where the caller must not be paused.
        const Inside inside;
        return plain(passed...);
      } else if constexpr (kHasStatus) {
        std::tuple<P...> given{passed...};
        std::get<kShared>(given) = status;
        return std::apply(plain, given);
      } else {
        return plain(passed...);
      }
    });
  }

  static MPI_Status* status_of(const std::tuple<P...>& arguments) noexcept {
    if constexpr (kHasStatus) return std::get<kShared>(arguments);
    return MPI_STATUS_IGNORE;
  }

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

// Messages; the other side is the fourth argument. A message with MPI_PROC_NULL is not converted: MPI completes it at
// once, and MPICH's requests for it say less than its blocking calls.
template <auto plain, auto start>
struct Message;
template <class... P, int (*plain)(P...), auto start>
struct Message<plain, start> {
  static int call(P... passed) noexcept {
    if (std::get<3>(std::tuple<P...>{passed...}) == MPI_PROC_NULL) return plain(passed...);
    return Started<plain, start, Alone, Letter>::call_from(__builtin_return_address(0), passed...);
  }
};

}  // namespace weft::mpi
