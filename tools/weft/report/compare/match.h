// SPDX-License-Identifier: Apache-2.0
// The same sites in reports of several runs, between which the program may have been changed.
#pragma once

#include <vector>

#include "report/model/model.h"

namespace weft::tools::report {

// For each report, for each row: the number of the site; -1: that run has not met it. Row 0 is the program.
//
// Sites are the same if kind, file, function and the sites around them are. Of several such they are paired in the
// order of their lines, so that a line may move; where there are more on one side, those stay alone whose counts fit
// nobody's. What is left then is paired without a look at what is around, and at last by its name alone.
std::vector<std::vector<int>> match(const std::vector<const Report*>& reports);

}  // namespace weft::tools::report
