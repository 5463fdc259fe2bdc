// SPDX-License-Identifier: Apache-2.0
// The processes that run on weft, whether they share the node or not: what /proc says of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::tools {

struct ProgramRow {
  int pid = 0;
  std::string name;
  double cpus = 0;     // that it has used since the last look, as in 1.8 of 2
  int allowed = 0;     // CPUs in its affinity mask
  int threads = 0;     // of the system
  double seconds = 0;  // since it was started
};

struct ProgramRows {
  std::vector<ProgramRow> programs;
  double others = 0;                 // CPUs that all other processes have used
};

class WeftPrograms {
 public:
  // The first look knows no CPU time.
  ProgramRows look();

 private:
  struct Known {
    uint64_t start = 0;  // by which a process is told from a later one with its number
    bool on_weft = false;
    int looks_left = 0;  // until its mappings are read again: it may have become another program
    double used = 0;     // CPU seconds
    double seen = 0;     // when
    double cpus = 0;     // used since the look before
    int threads = 0;
  };
  Known look_at(int pid, double now);

  std::map<int, Known> known_;
  double busy_ = 0;  // CPU seconds of the machine
  double others_ = 0;  // of ProgramRows
  double seen_ = 0;  // when
};

}  // namespace weft::tools
