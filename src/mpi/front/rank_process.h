// SPDX-License-Identifier: Apache-2.0
// The process of another rank of the job on this host, by what launchers tell their processes: for messages, when a
// rank does not answer.
#pragma once

namespace weft::mpi {

struct RankProcess {
  int pid = 0;  // 0: not found; it is on another host, or not ours to look at
  // Whether it has mapped an MPI, and a file of that name.
  bool has_mpi = false;
  bool has_library = false;
};

// `own` and `wanted`: ranks of MPI_COMM_WORLD; `library`: the name of a file, without its folder.
RankProcess find_rank_process(int own, int wanted, const char* library) noexcept;

}  // namespace weft::mpi
