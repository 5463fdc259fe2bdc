// SPDX-License-Identifier: Apache-2.0
// Finds the process of another rank of the job on this host, by the environment that launchers give their processes.
// For messages, when a rank does not answer.
#pragma once

namespace weft::mpi {

struct RankProcess {
  int pid = 0;  // 0: not found: the process is on another host, or may not be looked at
  // Whether the process has mapped an MPI, and a file named `library`.
  bool has_mpi = false;
  bool has_library = false;
};

// `own` and `wanted`: ranks of MPI_COMM_WORLD; `library`: the name of a file, without its folder.
RankProcess find_rank_process(int own, int wanted, const char* library) noexcept;

}  // namespace weft::mpi
