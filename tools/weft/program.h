// SPDX-License-Identifier: Apache-2.0
// What a program is, before it is run: whether the dynamic linker will load weft into it.
#pragma once

#include <string>
#include <vector>

#include "library.h"

namespace weft::tools {

struct Program {
  std::string path;       // as it will be executed; empty: it cannot be
  int exit_code = 0;      // of the command when it cannot: 127 not found, 126 not executable (as shells do)
  std::string complaint;  // one line for the user; empty: all is well
  std::string interpreter{};    // of a script: what runs it, as it says; empty: no script
  bool takes_libraries = true;  // whether the dynamic linker preloads what weft asks for
};

// Finds `name` as execvp(3) does and looks at the file.
Program examine_program(const std::string& name);

// Whether `runtime`, which is to stand in the place of the program's own OpenMP runtime, has the versions that the
// program needs of that; where weft `preloads`, those that the program's libraries need, too, which otherwise the audit
// library looks at. Complains if not: the dynamic linker would end the program.
void examine_versions(Program& program, const Libraries& libraries, const std::string& runtime, bool preloads);

// Whether a file that the system cannot execute may be a script: it does not begin like something else.
bool is_text(const std::string& path);

// Becomes /bin/sh, for a script that does not say what runs it: as execvp(3) and shells do. Returns if there is none.
void run_by_shell(const std::string& path, const std::vector<char*>& program);

}  // namespace weft::tools
