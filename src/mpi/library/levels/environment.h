// SPDX-License-Identifier: Apache-2.0
// The environment that MPI reads while it starts.
#pragma once

namespace weft::mpi {

// Ranks of Open MPI spin while they wait for each other, except where mpirun sees more ranks than CPUs; mpirun knows
// nothing of a rank's threads. So Open MPI is told to yield in calls that are not converted, unless the user has said
// what to do. When this object ends, the environment is as before: programs that the program starts inherit nothing of
// it.
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
