// SPDX-License-Identifier: Apache-2.0
// The words that make a compiler's command line one for weft.
#pragma once

#include "command_line.h"
#include "toolchain.h"

namespace weft::driver {

// What goes in front of the compiler's words, so that what a user says later wins: where something is compiled, where
// something is linked.
Words compile_flags(const Toolchain& toolchain);
Words link_flags(const Toolchain& toolchain, bool thread_sanitizer);

// The folder of the runtime that ThreadSanitizer sees into; empty: it is not installed.
std::string instrumented_libraries(const Toolchain& toolchain);

// Where `line` compiles with the pass, or links against the runtime.
bool compiles(const CommandLine& line);
bool links(const CommandLine& line);

// The compiler's whole command. `defaults`: the object file with the program's defaults; empty: none.
Words command_for(const CommandLine& line, const Toolchain& toolchain, const std::string& defaults);

}  // namespace weft::driver
