// SPDX-License-Identifier: Apache-2.0
// The sites of a report as the tree that their parents make of them.
#pragma once

#include <vector>

#include "report/model/model.h"

namespace weft::tools::report {

// The site that `site` was met in: site 0 for those that name none; -1 for site 0 itself.
int parent_of(const Report& report, int site);

// `root` and all that were met within it, in any depth.
std::vector<int> sites_within(const Report& report, int root);

// The innermost region around `site`, which may be itself; -1: none.
int region_around(const Report& report, int site);

// CPUs that can be in `site` at the same time: the product of the teams around it, at most those of the run.
int width_of(const Report& report, int site);

}  // namespace weft::tools::report
