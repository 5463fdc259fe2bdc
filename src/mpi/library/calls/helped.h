// SPDX-License-Identifier: Apache-2.0
// Calls without a non-blocking twin: made by a helper.
#pragma once

#include <cstddef>
#include <cstring>
#include <tuple>

#include "mpi/library/helper/helper.h"
#include "mpi/library/mpi.h"
#include "mpi/library/runtime.h"

namespace weft::mpi {

// What orders a call: the argument at a place, a communicator, window or file; or nothing.
inline constexpr size_t kUnordered = static_cast<size_t>(-1);

template <auto plain, size_t ordered_by>
struct Helped;

template <class... P, int (*plain)(P...), size_t ordered_by>
struct Helped<plain, ordered_by> {
  static int call(P... passed) noexcept {
    const Runtime* runtime = converting();
    if (runtime == nullptr) return plain(passed...);
    return call_helped(*runtime, passed...);
  }

  static int call_helped(const Runtime& runtime, P... passed) noexcept {
    struct Call : Job {
      std::tuple<P...> arguments;
    } made;
    made.arguments = {passed...};
    made.call = [](Job& job) { return std::apply(plain, static_cast<Call&>(job).arguments); };
    if constexpr (ordered_by != kUnordered) made.order = order_of(std::get<ordered_by>(made.arguments));
    return call_on_helper(runtime, made);
  }

 private:
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
