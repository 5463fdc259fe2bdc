// SPDX-License-Identifier: Apache-2.0
// What a waiting call is, for tables and traces. The caller passes its arguments where they lie; they become a
// description only when a table or a trace asks.
#pragma once

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "mpi/library/mpi.h"

namespace weft::mpi {

struct Description {
  static constexpr int kNone = INT_MIN;

  const char* name = "MPI";
  int peer = kNone;  // a rank, or MPI_ANY_SOURCE
  int tag = kNone;   // or MPI_ANY_TAG
  MPI_Comm communicator = MPI_COMM_NULL;
  long long count = -1;  // of elements of the type
  MPI_Datatype type = MPI_DATATYPE_NULL;
  // Whether the message goes to `peer` or comes from it. `also_sent`: another message that the call sends
  // (MPI_Sendrecv).
  enum class Direction { none, sent, received } direction = Direction::none;
  struct {
    int peer = kNone;
    int tag = kNone;
  } also_sent;
  int requests = -1;  // how many of the program's own requests the call waits for; what they are for is not known
};

using Describe = void (*)(const void* arguments, Description& into) noexcept;

struct Call {
  Describe describe;
  const void* arguments;  // they stay as long as the call waits
  const void* caller;     // where the program goes on; null: not known
  int64_t began = 0;      // start_time() before it was started; 0: it waits only
};

namespace detail {

// "MPI_Recv" out of a text that ends with PMPI_Recv and what is no part of a name.
constexpr std::string_view name_in(std::string_view text) noexcept {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  const size_t begin = text.rfind("PMPI_") + 1;
  const size_t end = text.find_first_not_of(kLetters, begin);
  return text.substr(begin, (end == std::string_view::npos ? text.size() : end) - begin);
}

template <auto function>
constexpr std::string_view name_of() noexcept {
  return name_in(__PRETTY_FUNCTION__);
}

template <auto function>
constexpr auto spell() noexcept {
  std::array<char, name_of<function>().size() + 1> text{};
  name_of<function>().copy(text.data(), text.size() - 1);
  return text;
}

// Hidden, although the functions are not.
template <auto function>
[[gnu::visibility("hidden")]] inline constexpr auto kSpelled = spell<function>();

}  // namespace detail

// MPI's name of a PMPI_ function.
template <auto function>
[[gnu::visibility("hidden")]] inline constexpr const char* kNameOf = detail::kSpelled<function>.data();
template <auto function>
constexpr bool is_named(std::string_view beginning) noexcept {
  return detail::name_of<function>().substr(0, beginning.size()) == beginning;
}

// Describes a message: `arguments` are a buffer, a count, a type, a rank, a tag and a communicator.
void describe_message(const auto& arguments, Description& into) noexcept {
  into.count = std::get<1>(arguments);
  into.type = std::get<2>(arguments);
  into.peer = std::get<3>(arguments);
  into.tag = std::get<4>(arguments);
  into.communicator = std::get<5>(arguments);
  if (into.direction == Description::Direction::none) into.direction = Description::Direction::sent;
}

// Describes a call that waits for requests of the program's. `count` points to an int: how many.
template <auto function>
void describe_requests(const void* count, Description& into) noexcept {
  into.name = kNameOf<function>;
  into.requests = *static_cast<const int*>(count);
}

}  // namespace weft::mpi
