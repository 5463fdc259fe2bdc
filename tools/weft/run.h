// SPDX-License-Identifier: Apache-2.0
// `weft run`: replaces this process by the program, with weft in it.
#pragma once

#include <string>
#include <vector>

#include "program.h"

namespace weft::tools {

struct RunOptions {
  std::string stats;                 // true, all; empty: none
  bool reproducible = false;         // the same bits from each call of a library
  bool preload = false;              // LD_PRELOAD in place of LD_AUDIT
  int cpus = 0;                      // 0: as the machine allows
  bool node = false;                 // share the CPUs with other processes
  bool mpi = false;                  // blocking calls of MPI pause the task
  bool collectives = false;          // MPI's collectives on a node by shared memory
  int weight = 0;                    // 0: the default
  std::string runtime;               // another library; empty: the one beside the command
  std::vector<std::string> settings;  // NAME=VALUE
  std::string numa;                  // where memory and threads are; empty: as they come
  std::string trace;                 // write a trace to this file; empty: none
  std::string profile;               // leave a profile in this folder; empty: none
  std::string mode;                  // of sharing the CPUs; empty: as the environment says
  double factor = 0;                 // of fixed shares; 0: as the environment says
  // Whether a variable has asked for it, and no option. What cannot be had is left out then.
  struct {
    bool mpi = false;
    bool collectives = false;
    bool numa = false;
  } by_variable;
  std::vector<std::string> command;
};

// Sets the environment that `run` gives the program; 0, or the exit code of this command where that cannot be.
int prepare(const RunOptions& options, Program& program);

// Returns the exit code only when the program could not be started.
int run(const RunOptions& options);

}  // namespace weft::tools
