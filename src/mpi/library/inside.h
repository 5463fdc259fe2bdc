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

}  // namespace weft::mpi
