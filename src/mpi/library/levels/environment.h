// SPDX-License-Identifier: Apache-2.0
// What MPI reads from its environment while it starts.
#pragma once

namespace weft::mpi {

// Open MPI's ranks spin while they wait for each other, except where mpirun sees more ranks than CPUs; of the threads
// of a rank it knows nothing. For calls that are not converted they are told to give way, unless the user has said what
// to do. The environment is as it was when this ends: programs that the program starts get nothing of it.
class StartEnvironment {
 public:
  explicit StartEnvironment(bool pausing) noexcept;
  ~StartEnvironment();
  StartEnvironment(const StartEnvironment&) = delete;
  StartEnvironment& operator=(const StartEnvironment&) = delete;

 private:
  bool set_;
};

}  // namespace weft::mpi
