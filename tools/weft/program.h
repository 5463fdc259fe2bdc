// SPDX-License-Identifier: Apache-2.0
// What a program is, before it is run: whether the dynamic linker will load weft into it.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

struct Program {
  std::string path;       // as it will be executed; empty: it cannot be
  int exit_code = 0;      // of the command when it cannot: 127 not found, 126 not executable (as shells do)
  std::string complaint;  // one line for the user; empty: all is well
};

// Finds `name` as execvp(3) does and looks at the file.
Program examine_program(const std::string& name);

// Whether a file that the system cannot execute may be a script: it does not begin like something else.
bool is_text(const std::string& path);

// Becomes /bin/sh, for a script that does not say what runs it: as execvp(3) and shells do. Returns if there is none.
void run_by_shell(const std::string& path, const std::vector<char*>& program);

}  // namespace weft::tools
