// SPDX-License-Identifier: Apache-2.0
// The MPI's own variables, which say which algorithm it takes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <mpi.h>

namespace weft::tune {

struct Setting {
  std::string name;
  int value = 0;
};

// "NAME=VALUE,NAME=VALUE", or "-" for none.
bool parse_settings(const std::string& text, std::vector<Setting>& settings);

class Controls {
 public:
  // Sets these variables, and all that have been set before and are not among them back to what they were. An empty
  // string, or what went wrong.
  std::string apply(const std::vector<Setting>& settings);

 private:
  std::map<std::string, int> before_;
};

// Open MPI looks at its variables when a communicator is made: one for each choice of values, made under them.
class Communicators {
 public:
  // Collective.
  MPI_Comm get(const std::string& settings);

 private:
  std::map<std::string, MPI_Comm> made_;
};

}  // namespace weft::tune
