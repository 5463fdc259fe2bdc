// SPDX-License-Identifier: Apache-2.0
// `weft compare`: reads reports, and says what changed between them.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

struct CompareOptions {
  std::vector<std::string> sides;  // two, each a list of files with commas between
  std::string json;  // a file for programs; "-": stdout, in place of the text; empty: none
};

// The exit code of this command.
int compare_reports(const CompareOptions& options);

}  // namespace weft::tools
