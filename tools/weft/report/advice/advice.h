// SPDX-License-Identifier: Apache-2.0
// What to change in a program, from what was measured of it.
#pragma once

#include <string>
#include <vector>

#include "report/model/model.h"

namespace weft::tools::report {

// The most valuable first. Nothing for a program that uses its CPUs well. `notes`, if given, takes what the reader has
// to know of what could not be judged.
std::vector<Advice> advise(const Report& report, std::vector<std::string>* notes = nullptr);

}  // namespace weft::tools::report
