// SPDX-License-Identifier: Apache-2.0
// The compiler under the driver.
#pragma once

#include <string>

#include "language.h"
#include "response_file.h"

namespace weft::driver {

// What its command line understands, and whether it can load the pass.
enum class Family { clang, flang, gcc, other };

struct Compiler {
  std::string path;  // of the file to execute
  Words words;       // as it is called: its name, and what stands behind it
};

// `wanted`: a command, with arguments if needed, or empty: the default one. `from` says where that stands. Throws
// Refusal when there is none.
Compiler find_compiler(const std::string& wanted, const std::string& from, Language language);

// By its name; a name that says nothing (cc, mpicc) is asked for its --version.
Family family_of(const Compiler& compiler);

// The release of LLVM it belongs to; 0: cannot be told.
int llvm_major(const Compiler& compiler);

}  // namespace weft::driver
