// SPDX-License-Identifier: Apache-2.0
// `weft compare`: reads reports, and says what changed between them.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

struct CompareOptions {
  std::vector<std::string> sides;  // two, each a list of files with commas between
  bool json = false;
};

// The exit code of this command.
int compare_reports(const CompareOptions& options);

}  // namespace weft::tools
