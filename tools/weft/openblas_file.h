// SPDX-License-Identifier: Apache-2.0
// What weft does with a build of OpenBLAS, as far as its file says: none of its code runs.
#pragma once

#include <string>

namespace weft::tools {

// In one line, with the version; empty: the file is no OpenBLAS. `audits`: whether weft comes by the audit interface,
// and so sees each library before its code runs.
std::string look_into_openblas(const std::string& path, bool audits);

}  // namespace weft::tools
