// SPDX-License-Identifier: Apache-2.0
// A Fortran routine of MPI's by name: its library is there when a Fortran program is, and only then.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include "base/message.h"
#include "mpi/library/mpi.h"
#include "platform/find_symbol.h"

namespace weft::mpi {

// A name as an argument of a template.
template <size_t size>
struct Text {
  char text[size];
  constexpr Text(const char (&from)[size]) { std::copy_n(from, size, text); }
};

template <size_t>
using Address = void*;

// Finds a routine, once, in all objects of the process.
template <Text name, class Function>
Function find_routine() noexcept {
  static std::atomic<Function> found{nullptr};
  // Relaxed: the library that has the function was mapped before its program could call.
  Function function = found.load(std::memory_order_relaxed);
  if (function != nullptr) return function;
  function = reinterpret_cast<Function>(platform::find_symbol(name.text));
  if (function == nullptr) base::fatal("mpi: this MPI has no %s", name.text);
  found.store(function, std::memory_order_relaxed);
  return function;
}

template <Text name, class Places>
struct RoutineAt;

template <Text name, size_t... place>
struct RoutineAt<name, std::index_sequence<place...>> {
  // All arguments but the error, which is returned.
  static MPI_Fint call(Address<place>... arguments) noexcept {
    MPI_Fint error = MPI_SUCCESS;
    find_routine<name, Function>()(arguments..., &error);
    return error;
  }

 private:
  using Function = void (*)(Address<place>..., MPI_Fint*);
};

template <Text name, size_t arguments>
using Routine = RoutineAt<name, std::make_index_sequence<arguments>>;

// Writes the error of a routine: in mpi_f08 it is optional.
inline void give_error(MPI_Fint* error, int code) noexcept {
  if (error != nullptr) *error = code;
}

// Calls `call` with the elements of an array as its arguments.
template <size_t... place>
decltype(auto) spread(auto&& call, void* const* arguments, std::index_sequence<place...>) noexcept {
  return call(arguments[place]...);
}

}  // namespace weft::mpi
