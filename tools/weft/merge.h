// SPDX-License-Identifier: Apache-2.0
// `weft merge`: the traces of several ranks as one.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

// Returns the exit code.
int merge(const std::vector<std::string>& traces, const std::string& into);

}  // namespace weft::tools
