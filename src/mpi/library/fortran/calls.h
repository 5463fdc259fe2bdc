// SPDX-License-Identifier: Apache-2.0
// The kinds of calls of mpi/library/calls, for Fortran routines, whose arguments are all addresses. `arguments`: how
// many there are without the error.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "mpi/library/calls/collective.h"
#include "mpi/library/calls/collectives.h"
#include "mpi/library/calls/helped.h"
#include "mpi/library/calls/started.h"
#include "mpi/library/calls/worlds.h"
#include "mpi/library/diagnostics/plain.h"
#include "mpi/library/fortran/routine.h"
#include "mpi/library/fortran/status.h"
#include "mpi/library/helper/helper.h"
#include "mpi/library/runtime.h"
#include "mpi/library/wait/wait.h"

namespace weft::mpi::fortran {

// Makes a routine of `Kind::run(void* const* arguments)`, which returns the error. Behind the arguments stands the
// address at which the program goes on.
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

// Describes what a routine waits for, by its arguments.
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

// As mpi::call_plain(), for the routine whose arguments, and where the program goes on, are in `given`.
template <size_t arguments, class... Rest>
int call_plain(Describe describe, void* const* given, const Rest&... rest) noexcept {
  std::array<void*, arguments> all;
  std::copy_n(given, arguments, all.data());
  return mpi::call_plain(describe, all, given[arguments], rest...);
}

// `flag`: the place at which the routine that attempts it has one argument more.
template <Text plain, Text attempt, size_t arguments, size_t flag>
struct Attempted {
  static constexpr size_t kArguments = arguments;

  static int run(void* const* given) noexcept {
    const Runtime* runtime = converting();
    constexpr auto kDescribe = describe<plain, kUnordered>;
    if (runtime == nullptr) {
      return call_plain<arguments>(kDescribe, given, [given] { return call_routine<plain, arguments>(given); });
    }
    Attempts attempts;
    std::copy_n(given, flag, attempts.passed);
    attempts.passed[flag] = &attempts.found;
    std::copy_n(given + flag, arguments - flag, attempts.passed + flag + 1);
    wait_until(*runtime, &Attempts::make, &attempts, {kDescribe, given, given[arguments]});
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

// The classes below say what orders the calls for a helper: nothing, or the handle at a place of the arguments.
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
    if (runtime != nullptr) return run_helped(*runtime, given);
    return call_plain<arguments>(describe<plain, Ordered::kCommunicator>, given,
                                 [given] { return call_routine<plain, arguments>(given); });
  }

  static int run_helped(const Runtime& runtime, void* const* given) noexcept {
    struct Made : Job {
      void* const* arguments_of;
    } made;
    made.arguments_of = given;
    made.order = Ordered::of(given);
    made.call = [](Job& job) { return call_routine<plain, arguments>(static_cast<Made&>(job).arguments_of); };
    const Call call{describe<plain, Ordered::kCommunicator>, given, given[arguments]};
    made.described = &call;
    return call_on_helper(runtime, made);
  }
};

// Converts a routine by another one that has its first `shared` arguments and a request; behind `shared` arguments the
// routine may have a status.
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
    const int64_t began = start_time();
    {
      const Inside inside;
      if (const int code = call_routine<start, shared + 1>(with_request); code != MPI_SUCCESS) return code;
    }
    MPI_Request request = PMPI_Request_f2c(started);
    MPI_Status status;
    status.MPI_ERROR = MPI_SUCCESS;
    const int code = wait_for(*runtime, request, &status, Origin{}, {kDescribe, given, given[arguments], began});
    if constexpr (arguments > shared) give_status(status, given[shared]);
    return code;
  }

 private:
  static constexpr auto kDescribe = describe < plain, Which::kCollective ? shared - 1 : kUnordered > ;

  // The same as Started::make_plain() in calls/started.h.
  static int make_plain(void* const* given) noexcept {
    if constexpr (Which::kCollective) {
      const Runtime* helping = helping_with_collective();
      if (helping != nullptr)
        return Helped<plain, arguments, ByCommunicator<arguments - 1>>::run_helped(*helping, given);
    }
    return call_plain<arguments>(kDescribe, given, MPI_STATUS_IGNORE, [given](MPI_Status* wanted) {
      if constexpr (Which::kCollective) {
        const Inside inside;
        return call_routine<plain, arguments>(given);
      } else if constexpr (arguments > shared) {
        WantedStatus status(given[shared], wanted);
        void* with_status[arguments];
        std::copy_n(given, arguments, with_status);
        with_status[shared] = status.address();
        return status.after(call_routine<plain, arguments>(with_status));
      } else {
        return call_routine<plain, arguments>(given);
      }
    });
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
    struct Made : Job {
      std::array<void*, sizeof...(place)> given;
      Length long_as[sizeof...(text)];
    } made;
    ((made.given[place] = arguments), ...);
    ((made.long_as[text] = lengths), ...);
    const Runtime* runtime = converting();
    constexpr auto kDescribe = describe<plain, Ordered::kCommunicator>;
    const void* caller = __builtin_return_address(0);
    if (runtime == nullptr) {
      return give_error(error, mpi::call_plain(kDescribe, made.given, caller, [&made] { return make(made); }));
    }
    made.order = Ordered::of(made.given.data());
    made.call = [](Job& job) { return make(static_cast<Made&>(job)); };
    const Call call{kDescribe, made.given.data(), caller};
    made.described = &call;
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

// A collective, as in calls/collectives.h. The communicator is the last argument.
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
