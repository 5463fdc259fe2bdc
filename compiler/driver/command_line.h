// SPDX-License-Identifier: Apache-2.0
// The driver's command line: what of it is the compiler's, what is weft's, and what it asks the compiler to do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "response_file.h"

namespace weft::driver {

// How far the compiler goes.
enum class Goal { preprocess, compile, partial_link, link };

struct CommandLine {
  Words compiler;  // the compiler's words, unchanged
  Words own;       // weft's options

  bool openmp = false;             // some spelling of -fopenmp is there, and none that takes it back behind it
  std::string openmp_runtime;      // of -fopenmp=...; empty: the compiler's choice
  Goal goal = Goal::link;
  Words sources;                   // what is compiled, so that a pass of the compiler sees it
  bool inputs = false;             // files of any kind
  std::string output;              // of -o
  bool shared = false;             // a shared library is linked
  bool static_runtime = false;     // -static and what else asks for archives
  bool thread_sanitizer = false;
  std::string foreign;             // the option that asks for another kind of machine; empty: none
};

CommandLine read_command_line(const Words& words);

// -fopenmp as the compilers of LLVM and gcc spell it, for what other compilers call so; empty: it is nothing of that
// kind.
std::string_view usual_spelling(std::string_view word);

}  // namespace weft::driver
