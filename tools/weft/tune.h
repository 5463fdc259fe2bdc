// SPDX-License-Identifier: Apache-2.0
// `weft tune`: starts its driver, which is in Python.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

// What the command line knows. The driver takes the arguments as they are.
struct TuneOptions {
  std::string ranks;
  std::string mpi;
  std::string launcher;
  std::string only;
  std::string sizes;
  std::string budget;
  std::string output;
  std::string format;
  std::string file;
  std::string record;
  bool own = false;
  bool all = false;
  bool paper = false;
  bool measure = false;
};

// The arguments begin with the command behind `tune`. Does not return, unless the driver cannot be started.
int tune(const std::vector<std::string>& arguments);

}  // namespace weft::tools
