// SPDX-License-Identifier: Apache-2.0
// The parallel program of which this process is a rank, as its launcher says.
#pragma once

#include <optional>
#include <string>

namespace weft::tools {

struct Job {
  int rank = 0;
  int ranks = 1;
  std::string name;  // the same for all ranks of a job, and for those of no other; fit for the name of a file
};

// None: there is no launcher, or one that does not say how many ranks there are, or of which job.
std::optional<Job> job_by_launcher();

}  // namespace weft::tools
