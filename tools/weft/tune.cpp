// SPDX-License-Identifier: Apache-2.0
#include "tune.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "base/message.h"
#include "exit_codes.h"
#include "library.h"
#include "platform/launcher.h"

namespace weft::tools {

namespace {

namespace fs = std::filesystem;

// The family of the MPI whose launcher has started this process as a rank; null: none has.
const char* family_of_launcher() {
  switch (platform::mpi_by_launcher()) {
    case platform::Mpi::openmpi: return "openmpi";
    case platform::Mpi::mpich: return "mpich";
    case platform::Mpi::unknown: break;
  }
  return nullptr;
}

// In a virtual environment the command lies beside the Python that has weft's package.
std::string python() {
  const fs::path beside = own_path().parent_path() / "python3";
  return access(beside.c_str(), X_OK) == 0 ? beside.string() : "python3";
}

}  // namespace

int tune(const std::vector<std::string>& arguments) {
  const Libraries found = find_libraries();
  const fs::path folder = found.runtime.parent_path();
  if (access((found.tune / "__main__.py").c_str(), R_OK) != 0) {
    base::warn("tune: %s: %s; install weft again", found.tune.c_str(), std::strerror(errno));
    return kFailed;
  }
  std::vector<std::string> command;
  const char* family = family_of_launcher();
  if (family != nullptr) {
    // Ranks of a job: one of them becomes the driver, and the others wait.
    command = {(folder / ("weft-tune-" + std::string(family))).string(), "host"};
    if (access(command[0].c_str(), X_OK) != 0) {
      base::warn("tune: %s: %s; build weft where mpicc.%s is", command[0].c_str(), std::strerror(errno), family);
      return kFailed;
    }
  }
  command.insert(command.end(), {python(), "-B", found.tune.string(), folder.string(), arguments[0]});
  if (family != nullptr) command.insert(command.end(), {"-n", "{ranks}", "--for", family});
  command.insert(command.end(), arguments.begin() + 1, arguments.end());
  std::vector<char*> pointers;
  for (std::string& argument : command) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  base::warn("tune: %s: %s; the tuner is written in Python: install python3 3.9 or newer", pointers[0],
             std::strerror(errno));
  return kNotFound;
}

}  // namespace weft::tools
