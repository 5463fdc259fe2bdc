// SPDX-License-Identifier: Apache-2.0
// The processes of a program that runs under the collector: each has a file in a folder once it has begun.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "numa/evidence.h"
#include "numa/kernel.h"

namespace weft::tools::numa {

class Watched {
 public:
  Watched(const Kernel& kernel, std::filesystem::path folder);

  // At each process that runs.
  void look();

  // What is known when all is over: of processes with arrays; if there are none, of the one that was started.
  std::vector<Evidence> finish();

 private:
  const Kernel& kernel_;
  const std::filesystem::path folder_;
  const Balancing balancing_;
  std::map<std::string, Evidence> of_file_;
};

}  // namespace weft::tools::numa
