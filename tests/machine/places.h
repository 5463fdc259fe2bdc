// SPDX-License-Identifier: Apache-2.0
// Where in the sources an operation stands.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace weft::machine {

// "file:line function" of each place, by binutils' addr2line: the innermost frame that is not the C++ library's.
std::map<const void*, std::string> names_of(const std::vector<const void*>& places);

}  // namespace weft::machine
