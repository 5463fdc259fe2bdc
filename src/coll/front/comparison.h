// SPDX-License-Identifier: Apache-2.0
// Measures, while the program runs, whether MPI's own collectives are faster than weft's, and leaves those to MPI.
//
// Each operation has a class for each power of two of bytes. After some calls of a class, calls go to weft and to MPI
// in turns, each behind a barrier of weft, so that the ranks begin together. The time of a call is that of the rank
// that took longest. Then all ranks know the same times, and decide alike.
//
// Reductions are not compared: MPI's own may combine in another order, and the result must not follow from times.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "coll/coll.h"

namespace weft::coll {

class Comparison {
 public:
  // What the ranks have found out about a class, for the report.
  struct Found {
    Operation operation;
    size_t from, to;  // bytes, both inclusive
    double weft_ns, mpi_ns;  // medians
    bool left;  // it is MPI's from now on
  };
  using Tell = void (*)(const void* context, const Found& found);

  // `tell` may be null.
  Comparison(Tell tell, const void* context) noexcept : tell_(tell), context_(context) {}

  // Whether a call is being measured, and since when. It lies with the caller, since MPI may call its own collectives
  // inside of the call.
  struct Timing {
    float* time = nullptr;
    int64_t begin = 0;
  };

  // Whether this call is weft's. The ranks of the group call it alike.
  bool takes(Group& group, Operation operation, size_t bytes, Timing& timing) noexcept {
    if (operation == Operation::reduce || operation == Operation::allreduce) return true;
    const Class& mine = class_of(operation, bytes);
    return mine.settled ? !mine.left : compare(group, operation, bytes, timing);
  }
  // The call has ended, whoever took it.
  static void end(const Timing& timing) noexcept {
    if (timing.time != nullptr) write(timing);
  }

  // Calls of a class before its first measurement, for caches and connections.
  static constexpr int kCallsBefore = 16;
  // How many calls of weft and of MPI each are measured. The first round is not counted: MPI makes its connections in
  // it.
  static constexpr int kRounds = 8;

 private:
  static constexpr int kCounted = kRounds - 1;
  static constexpr int kEarly = 2;  // a clear case is decided after so many counted rounds
  static constexpr size_t kClasses = 34;  // the last class has all sizes from 4 GiB on

  struct Class {
    // Of all ranks, in nanoseconds; 0: not known.
    struct Times {
      std::array<float, kCounted> weft, mpi;
    };
    Times times{};
    uint8_t calls = 0;
    bool settled = false;
    bool left = false;
  };

  static size_t index_of(size_t bytes) noexcept {
    return std::min(static_cast<size_t>(std::bit_width(bytes)), kClasses - 1);
  }
  Class& class_of(Operation operation, size_t bytes) noexcept {
    return classes_[static_cast<size_t>(operation)][index_of(bytes)];
  }
  bool compare(Group& group, Operation operation, size_t bytes, Timing& timing) noexcept;
  void decide(Group& group, Operation operation, size_t bytes, int counted) noexcept;
  static void write(const Timing& timing) noexcept;

  const Tell tell_;
  const void* const context_;
  std::array<std::array<Class, kClasses>, kOperations> classes_{};
};

}  // namespace weft::coll
