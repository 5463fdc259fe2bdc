// SPDX-License-Identifier: Apache-2.0
// What a program is linked with, as the dynamic linker says.
#pragma once

#include <string>
#include <vector>

#include "library.h"

namespace weft::tools {

// With what the dynamic linker is asked: nothing of weft, or what `weft run` has it load.
enum class With { nothing, audit, preload };

struct LinkedObject {
  std::string name;  // as it was asked for
  std::string file;  // whole path; empty: it is not found, or there is none
};

// Has the dynamic linker say what it would map, as ldd does: none of the program's code runs. Empty where it has a
// fault to tell.
std::vector<LinkedObject> linked_objects(const std::string& path, const Libraries& libraries, With with);

}  // namespace weft::tools
