// SPDX-License-Identifier: Apache-2.0
// The kinds of calls/, for routines whose arguments are all addresses. `arguments`: without the error.
#pragma once

#include <cstddef>
#include <utility>

#include "mpi/library/calls/collective.h"
#include "mpi/library/calls/collectives.h"
#include "mpi/library/calls/helped.h"
#include "mpi/library/calls/started.h"
#include "mpi/library/calls/worlds.h"
#include "mpi/library/fortran/routine.h"
#include "mpi/library/fortran/status.h"
#include "mpi/library/helper/helper.h"
#include "mpi/library/runtime.h"
#include "mpi/library/wait/wait.h"

namespace weft::mpi::fortran {

// Gives `Kind::run(void* const* arguments)`, which returns the error, the shape of a routine.
template <class Kind, class Places>
struct ShapedAt;

template <class Kind, size_t... place>
struct ShapedAt<Kind, std::index_sequence<place...>> {
  static void call(Address<place>... arguments, MPI_Fint* error) noexcept {
    void* const all[] = {arguments..., nullptr};
    give_error(error, Kind::run(all));
  }
};

template <class Kind>
using Shaped = ShapedAt<Kind, std::make_index_sequence<Kind::kArguments>>;

template <Text name, size_t count>
int call_routine(void* const* arguments) noexcept {
  return spread(Routine<name, count>::call, arguments, std::make_index_sequence<count>());
}

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
    wait_until(*runtime, &Attempts::make, &attempts);
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
  static Order of(void* const*) noexcept { return 0; }
};
template <size_t place>
struct ByCommunicator {
  static Order of(void* const* given) noexcept {
    return reinterpret_cast<Order>(PMPI_Comm_f2c(*static_cast<MPI_Fint*>(given[place])));
  }
};
template <size_t place>
struct ByWindow {
  static Order of(void* const* given) noexcept {
    return reinterpret_cast<Order>(PMPI_Win_f2c(*static_cast<MPI_Fint*>(given[place])));
  }
};
template <size_t place>
struct ByFile {
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
    return run_helped(*runtime, given);
  }

  static int run_helped(const Runtime& runtime, void* const* given) noexcept {
    struct Call : Job {
      void* const* arguments_of;
    } made;
    made.arguments_of = given;
    made.order = Ordered::of(given);
    made.call = [](Job& job) { return call_routine<plain, arguments>(static_cast<Call&>(job).arguments_of); };
    return call_on_helper(runtime, made);
  }
};

// By a routine that has the first `shared` arguments and a request; behind those there may be a status.
template <Text plain, Text start, size_t arguments, size_t shared, class Which>
struct Started {
  static constexpr size_t kArguments = arguments;

  static int run(void* const* given) noexcept {
    const Runtime* runtime = Which::converting();
    if (runtime == nullptr) return make_plain(given);
    MPI_Fint started = 0;
    void* with_request[shared + 1];
    std::copy_n(given, shared, with_request);
    with_request[shared] = &started;
    {
      const Inside inside;
      if (const int code = call_routine<start, shared + 1>(with_request); code != MPI_SUCCESS) return code;
    }
    MPI_Request request = PMPI_Request_f2c(started);
    MPI_Status status;
    status.MPI_ERROR = MPI_SUCCESS;
    const int code = wait_for(*runtime, request, &status, Origin{});
    if constexpr (arguments > shared) give_status(status, given[shared]);
    return code;
  }

 private:
  // As that of calls/started.h.
  static int make_plain(void* const* given) noexcept {
    if constexpr (Which::kCollective) {
      const Runtime* helping = helping_with_collective();
      if (helping != nullptr)
        return Helped<plain, arguments, ByCommunicator<arguments - 1>>::run_helped(*helping, given);
      const Inside inside;
      return call_routine<plain, arguments>(given);
    }
    return call_routine<plain, arguments>(given);
  }
};

// Routines with texts among their arguments, whose lengths come behind the error.
using Length = size_t;
template <size_t>
using LengthAt = Length;

template <Text plain, class Ordered, class Places, class Texts>
struct HelpedWithTextsAt;

template <Text plain, class Ordered, size_t... place, size_t... text>
struct HelpedWithTextsAt<plain, Ordered, std::index_sequence<place...>, std::index_sequence<text...>> {
  static void call(Address<place>... arguments, MPI_Fint* error, LengthAt<text>... lengths) noexcept {
    struct Call : Job {
      void* given[sizeof...(place)];
      Length long_as[sizeof...(text)];
    } made;
    ((made.given[place] = arguments), ...);
    ((made.long_as[text] = lengths), ...);
    const Runtime* runtime = converting();
    if (runtime == nullptr) return give_error(error, make(made));
    made.order = Ordered::of(made.given);
    made.call = [](Job& job) { return make(static_cast<Call&>(job)); };
    give_error(error, call_on_helper(*runtime, made));
  }

 private:
  static int make(const auto& call) noexcept {
    using Function = void (*)(Address<place>..., MPI_Fint*, LengthAt<text>...);
    MPI_Fint error = MPI_SUCCESS;
    find_routine<plain, Function>()(call.given[place]..., &error, call.long_as[text]...);
    return error;
  }
};

template <Text plain, size_t arguments, size_t texts, class Ordered>
using HelpedWithTexts =
    HelpedWithTextsAt<plain, Ordered, std::make_index_sequence<arguments>, std::make_index_sequence<texts>>;

// As calls/collectives.h says. The communicator is the last argument.
template <Text plain, Text start, size_t arguments>
struct Collective {
  static constexpr size_t kArguments = arguments;

  static int run(void* const* given) noexcept {
    if (converting_collectives() != nullptr &&
        may_span_worlds(PMPI_Comm_f2c(*static_cast<MPI_Fint*>(given[arguments - 1])))) {
      return Helped<plain, arguments, ByCommunicator<arguments - 1>>::run(given);
    }
    return Started<plain, start, arguments, arguments, Together>::run(given);
  }
};

template <Text plain, Text start, size_t arguments, size_t operation>
struct Reduction {
  static constexpr size_t kArguments = arguments;

  static int run(void* const* given) noexcept {
    if (is_predefined(PMPI_Op_f2c(*static_cast<MPI_Fint*>(given[operation])))) {
      return Collective<plain, start, arguments>::run(given);
    }
    return Helped<plain, arguments, ByCommunicator<arguments - 1>>::run(given);
  }
};

}  // namespace weft::mpi::fortran
