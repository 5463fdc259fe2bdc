// SPDX-License-Identifier: Apache-2.0
// Where a rank runs, and how near two ranks are.
#pragma once

#include <mpi.h>

namespace weft::tune {

struct Location {
  char host[64] = {};
  int numa = -1;    // -1: the CPUs that it may use are of several
  int cache = -1;   // the first CPU of those with the same last-level cache; -1 as above
  int cpus = 0;     // that it may use
};

Location own_location();

// That the ranks of a node may use together. Collective.
int cpus_of(MPI_Comm node);

enum class Level { kCache, kNuma, kNode, kHosts };
constexpr int kLevels = 4;

Level level_between(const Location& a, const Location& b);
const char* name_of(Level level);

}  // namespace weft::tune
