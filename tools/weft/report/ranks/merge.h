// SPDX-License-Identifier: Apache-2.0
// The reports of the ranks of an MPI program as one.
#pragma once

#include <string>
#include <vector>

#include "report/model/model.h"

namespace weft::tools::report {

// Of ranks that ran at the same time, each with its number in run.rank: one at least. CPU seconds and counts are sums,
// so are the CPUs; the time is the longest. What a rank had of that time no more is lost to imbalance, in the program
// as a whole. Advice is not taken over: it is that of the whole.
Report merge(std::vector<Report> ranks);

// What a rank of a merged report did on average: CPUs, CPU seconds and counts as if of one process.
Report mean_rank(const Report& merged);

// "rank 3", "ranks 0, 2 to 5 and 9".
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace weft::tools::report
