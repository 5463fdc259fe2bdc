// SPDX-License-Identifier: Apache-2.0
// The processes of a program that runs under the collector: each has a file in a folder once it has begun.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "numa/evidence.h"
#include "numa/kernel.h"

namespace weft::tools::numa {

class Watched {
 public:
  // `command`: the words of the program that is started.
  Watched(const Kernel& kernel, std::filesystem::path folder, std::string command);

  // At each process that runs.
  void look();

  // What is known when all is over: of processes with arrays; if there are none, of the one that was started.
  std::vector<Evidence> finish();

  // Processes of which nothing is known because the disk was full.
  int without_room() const { return without_room_; }

 private:
  void look_at(const std::filesystem::path& file, int pid);
  void drop_if_empty(const std::filesystem::path& file, const Recorded& recorded) const;

  const Kernel& kernel_;
  const std::filesystem::path folder_;
  const std::string command_;
  const Balancing balancing_;
  std::map<std::string, Evidence> of_file_;
  std::set<std::string> over_;  // records of programs that have ended
  int without_room_ = 0;
};

}  // namespace weft::tools::numa
