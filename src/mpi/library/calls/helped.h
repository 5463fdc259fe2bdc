// SPDX-License-Identifier: Apache-2.0
// Calls without a non-blocking twin: a helper makes them.
#pragma once

#include <cstddef>
#include <cstring>
#include <tuple>

#include "mpi/library/diagnostics/call.h"
#include "mpi/library/diagnostics/plain.h"
#include "mpi/library/helper/helper.h"
#include "mpi/library/mpi.h"
#include "mpi/library/runtime.h"

namespace weft::mpi {

// Calls are ordered by one of their arguments, a communicator, window or file, whose place is given; or by none.
inline constexpr size_t kUnordered = static_cast<size_t>(-1);

template <auto plain, size_t ordered_by>
struct Helped;

template <class... P, int (*plain)(P...), size_t ordered_by>
struct Helped<plain, ordered_by> {
  static int call(P... passed) noexcept { return call_from(__builtin_return_address(0), passed...); }

  static int call_from(const void* caller, P... passed) noexcept {
    const Runtime* runtime = converting();
    if (runtime != nullptr) return call_helped(*runtime, caller, passed...);
    const std::tuple<P...> arguments{passed...};
    return call_plain(describe, arguments, caller, [=] { return plain(passed...); });
  }

  static int call_helped(const Runtime& runtime, const void* caller, P... passed) noexcept {
    struct Made : Job {
      std::tuple<P...> arguments;
    } made;
    made.arguments = {passed...};
    made.call = [](Job& job) { return std::apply(plain, static_cast<Made&>(job).arguments); };
    if constexpr (ordered_by != kUnordered) made.order = order_of(std::get<ordered_by>(made.arguments));
    const Call call{describe, &made.arguments, caller};
    made.described = &call;
    return call_on_helper(runtime, made);
  }

 private:
  static void describe(const void* arguments, Description& into) noexcept {
    into.name = kNameOf<plain>;
    // Windows and files are ordered by themselves.
    constexpr bool by_communicator = ordered_by != kUnordered && !is_named<plain>("MPI_Win_fence") &&
                                     (!is_named<plain>("MPI_File_") || is_named<plain>("MPI_File_open"));
    if constexpr (by_communicator) {
      into.communicator = std::get<ordered_by>(*static_cast<const std::tuple<P...>*>(arguments));
    }
  }

  // Handles are numbers in one MPI and addresses in the other. Those of a communicator and of a file are never the
  // same.
  template <class Handle>
  static Order order_of(Handle handle) noexcept {
    Order order = 0;
    std::memcpy(&order, &handle, sizeof handle);
    return order;
  }
};

}  // namespace weft::mpi
