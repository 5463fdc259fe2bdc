// SPDX-License-Identifier: Apache-2.0
// Whether the caller is inside MPI: in a callback (a user's reduction, an attribute function, an error handler) that
// MPI has called, perhaps with its locks held. What such code calls is not converted.
#pragma once

namespace weft::mpi {

inline thread_local int t_inside = 0;

class Inside {
 public:
  Inside() noexcept { ++t_inside; }
  ~Inside() { --t_inside; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

inline thread_local int t_testing = 0;

// The same for a call that only tests: MPI is not to yield the CPU in it (front/yield.cpp).
class Testing {
 public:
  Testing() noexcept { ++t_testing; }
  ~Testing() { --t_testing; }
  Testing(const Testing&) = delete;
  Testing& operator=(const Testing&) = delete;

 private:
  const Inside inside_;
};

}  // namespace weft::mpi
