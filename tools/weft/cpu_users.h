// SPDX-License-Identifier: Apache-2.0
// Which programs use the CPUs. Programs of one name count together.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace weft::tools {

struct CpuUser {
  std::string name;
  double cpus = 0;  // that it has used, as in 1.8
};

// "cc1plus 64%, python3 20%"; empty: none.
std::string shown(const std::vector<CpuUser>& programs);

class CpuUsers {
 public:
  // Those that have used most since the last look, without these processes; none at the first look. It reads a file of
  // each process.
  std::vector<CpuUser> look(const std::set<pid_t>& without);

 private:
  struct Seen {
    uint64_t start = 0;
    double used = 0;
  };
  std::map<pid_t, Seen> seen_;
  double when_ = 0;
};

}  // namespace weft::tools
