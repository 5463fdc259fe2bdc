// SPDX-License-Identifier: Apache-2.0
// `weft info -- PROGRAM`: which OpenMP runtimes a program would have under `weft run`, as far as its files say.
#pragma once

#include <string>
#include <vector>

#include "library.h"
#include "program.h"

namespace weft::tools {

struct ProgramRuntimes {
  bool known = false;    // whether the dynamic linker has said what the program is linked with
  bool on_weft = false;  // whether something asks for a runtime, and gets weft's
  // Those that the program has all the same: the file, and why.
  struct Other {
    std::string file;
    std::string why;
  };
  std::vector<Other> others;
  // The copies of OpenBLAS that it is linked with: the file, and what weft does with it.
  std::vector<Other> openblas;
};

ProgramRuntimes look_at_runtimes(const Program& program, const Libraries& libraries);

}  // namespace weft::tools
