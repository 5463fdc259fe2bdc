// SPDX-License-Identifier: Apache-2.0
// The kinds of calls/, for routines whose arguments are all addresses. `arguments`: without the error.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "mpi/library/calls/collective.h"
#include "mpi/library/calls/helped.h"
#include "mpi/library/calls/started.h"
#include "mpi/library/fortran/routine.h"
#include "mpi/library/fortran/status.h"
#include "mpi/library/helper/helper.h"
#include "mpi/library/runtime.h"
#include "mpi/library/wait/wait.h"

namespace weft::mpi::fortran {

// Gives `Kind::run(void* const* arguments)`, which returns the error, the shape of a routine. Behind the arguments is
// the address at which the program goes on.
template <class Kind, class Places>
struct ShapedAt;

template <class Kind, size_t... place>
struct ShapedAt<Kind, std::index_sequence<place...>> {
  static void call(Address<place>... arguments, MPI_Fint* error) noexcept {
    void* const all[] = {arguments..., __builtin_return_address(0)};
    give_error(error, Kind::run(all));
  }
};

template <class Kind>
using Shaped = ShapedAt<Kind, std::make_index_sequence<Kind::kArguments>>;

template <Text name, size_t count>
int call_routine(void* const* arguments) noexcept {
  return spread(Routine<name, count>::call, arguments, std::make_index_sequence<count>());
}

// "MPI_RECV" of "pmpi_recv_".
template <Text routine>
inline constexpr auto kFortranName = [] {
  std::array<char, sizeof routine.text - 2> name{};
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    const char c = routine.text[i + 1];
    name[i] = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name;
}();

// What a routine waits for, by its arguments.
template <Text routine, size_t communicator>
void describe(const void* arguments, Description& into) noexcept {
  const auto* given = static_cast<void* const*>(arguments);
  const auto number = [given](size_t place) { return *static_cast<const MPI_Fint*>(given[place]); };
  constexpr std::string_view name = kFortranName<routine>.data();
  into.name = name.data();
  if constexpr (name == "MPI_SEND" || name == "MPI_SSEND" || name == "MPI_RSEND" || name == "MPI_BSEND" ||
                name == "MPI_RECV") {
    into.count = number(1);
    into.type = PMPI_Type_f2c(number(2));
    into.peer = number(3);
    into.tag = number(4);
    into.communicator = PMPI_Comm_f2c(number(5));
    into.direction = name == "MPI_RECV" ? Description::Direction::received : Description::Direction::sent;
  } else if constexpr (name == "MPI_PROBE" || name == "MPI_MPROBE") {
    into.peer = number(0);
    into.tag = number(1);
    into.communicator = PMPI_Comm_f2c(number(2));
  } else if constexpr (name == "MPI_WAITANY") {
    into.requests = number(0);
  } else if constexpr (communicator != kUnordered) {
    into.communicator = PMPI_Comm_f2c(number(communicator));
  }
}

// By a routine that has the first `shared` arguments and a request; behind those there may be a status.
template <Text plain, Text start, size_t arguments, size_t shared, class Which>
struct Started {
  static constexpr size_t kArguments = arguments;

  static int run(void* const* given) noexcept {
    const Runtime* runtime = Which::converting();
    if (runtime == nullptr) return call_routine<plain, arguments>(given);
    MPI_Fint started = 0;
    void* with_request[shared + 1];
    std::copy_n(given, shared, with_request);
    with_request[shared] = &started;
    const int64_t began = start_time();
    {
      const Inside inside;
      if (const int code = call_routine<start, shared + 1>(with_request); code != MPI_SUCCESS) return code;
    }
    MPI_Request request = PMPI_Request_f2c(started);
    MPI_Status status;
    status.MPI_ERROR = MPI_SUCCESS;
    constexpr size_t communicator = std::is_same_v<Which, Together> ? shared - 1 : kUnordered;
    const int code =
        wait_for(*runtime, request, &status, Origin{}, {describe<plain, communicator>, given, given[arguments], began});
    if constexpr (arguments > shared) give_status(status, given[shared]);
    return code;
  }
};

// `flag`: the place at which the routine that attempts it has one argument more.
template <Text plain, Text attempt, size_t arguments, size_t flag>
struct Attempted {
  static constexpr size_t kArguments = arguments;

  static int run(void* const* given) noexcept {
    const Runtime* runtime = converting();
    if (runtime == nullptr) return call_routine<plain, arguments>(given);
    Attempts attempts;
    std::copy_n(given, flag, attempts.passed);
    attempts.passed[flag] = &attempts.found;
    std::copy_n(given + flag, arguments - flag, attempts.passed + flag + 1);
    wait_until(*runtime, &Attempts::make, &attempts, {describe<plain, kUnordered>, given, given[arguments]});
    return attempts.code;
  }

 private:
  struct Attempts {
    void* passed[kArguments + 1];
    MPI_Fint found = 0;
    int code = MPI_SUCCESS;

    static bool make(void* self) noexcept {
      auto& attempts = *static_cast<Attempts*>(self);
      attempts.code = call_routine<attempt, kArguments + 1>(attempts.passed);
      return attempts.found != 0 || attempts.code != MPI_SUCCESS;
    }
  };
};

// `found`: the place of the flag or the number.
template <Text plain, size_t arguments, size_t found>
struct Tested {
  static constexpr size_t kArguments = arguments;

  static int run(void* const* given) noexcept {
    const Runtime* runtime = converting();
    if (runtime == nullptr) return call_routine<plain, arguments>(given);
    int code;
    {
      const Inside inside;
      code = call_routine<plain, arguments>(given);
    }
    if (code == MPI_SUCCESS && *static_cast<MPI_Fint*>(given[found]) == 0) runtime->yield();
    return code;
  }
};

template <Text plain, size_t arguments>
struct InPlace {
  static constexpr size_t kArguments = arguments;

  static int run(void* const* given) noexcept {
    const Inside inside;
    return call_routine<plain, arguments>(given);
  }
};

// What orders calls for a helper: the handle at a place.
struct Unordered {
  static constexpr size_t kCommunicator = kUnordered;
  static Order of(void* const*) noexcept { return 0; }
};
template <size_t place>
struct ByCommunicator {
  static constexpr size_t kCommunicator = place;
  static Order of(void* const* given) noexcept {
    return reinterpret_cast<Order>(PMPI_Comm_f2c(*static_cast<MPI_Fint*>(given[place])));
  }
};
template <size_t place>
struct ByWindow {
  static constexpr size_t kCommunicator = kUnordered;
  static Order of(void* const* given) noexcept {
    return reinterpret_cast<Order>(PMPI_Win_f2c(*static_cast<MPI_Fint*>(given[place])));
  }
};
template <size_t place>
struct ByFile {
  static constexpr size_t kCommunicator = kUnordered;
  static Order of(void* const* given) noexcept {
    return reinterpret_cast<Order>(PMPI_File_f2c(*static_cast<MPI_Fint*>(given[place])));
  }
};

template <Text plain, size_t arguments, class Ordered>
struct Helped {
  static constexpr size_t kArguments = arguments;

  static int run(void* const* given) noexcept {
    const Runtime* runtime = converting();
    if (runtime == nullptr) return call_routine<plain, arguments>(given);
    struct Made : Job {
      void* const* arguments_of;
    } made;
    made.arguments_of = given;
    made.order = Ordered::of(given);
    made.call = [](Job& job) { return call_routine<plain, arguments>(static_cast<Made&>(job).arguments_of); };
    const Call call{describe<plain, Ordered::kCommunicator>, given, given[arguments]};
    made.described = &call;
    return call_on_helper(*runtime, made);
  }
};

// As calls/helped.h says.
template <Text plain, Text start, size_t arguments, size_t operation>
struct Reduction {
  static constexpr size_t kArguments = arguments;

  static int run(void* const* given) noexcept {
    if (is_predefined(PMPI_Op_f2c(*static_cast<MPI_Fint*>(given[operation])))) {
      return Started<plain, start, arguments, arguments, Together>::run(given);
    }
    return Helped<plain, arguments, ByCommunicator<arguments - 1>>::run(given);
  }
};

}  // namespace weft::mpi::fortran
