// SPDX-License-Identifier: Apache-2.0
// Options and arguments that are names of files: the same in each command.
#pragma once

#include <CLI/CLI.hpp>

namespace weft::tools {

// What help calls the value. Shells complete the names of files where it is kFile.
inline constexpr char kFile[] = "FILE";
inline constexpr char kFolder[] = "FOLDER";

enum class Stdout { refused, taken };  // as the file "-"

// Has `option` take the name of a file. It refuses names that begin with '-', as options do that stand behind an option
// whose file was forgotten, and a name that is empty. Returns `option`.
CLI::Option* as_file(CLI::Option* option, Stdout dash = Stdout::refused);
CLI::Option* as_folder(CLI::Option* option);
// As as_file(), for a result: it refuses programs, scripts and libraries too, which stand behind an option whose file
// was forgotten.
CLI::Option* as_output(CLI::Option* option, Stdout dash = Stdout::refused);

}  // namespace weft::tools
