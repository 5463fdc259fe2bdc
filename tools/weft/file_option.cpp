// SPDX-License-Identifier: Apache-2.0
#include "file_option.h"

#include <array>
#include <cstring>
#include <fstream>
#include <string>

#include <elf.h>
#include <sys/stat.h>

namespace weft::tools {

namespace {

// Empty: there is none.
std::string fault_of_name(const std::string& name, const std::string& kind) {
  if (!name.empty() && name.front() != '-') return {};
  const std::string wanted = "the name of a " + kind + " is wanted";
  return name.empty() ? wanted + "; this one is empty"
                      : wanted + ", not " + name + "; a " + kind + " of that name is ./" + name;
}

// Or a library: nothing is written over those.
bool is_program(const std::string& name) {
  struct stat status{};
  if (stat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if ((status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0) return true;
  std::array<char, SELFMAG> begin{};
  std::ifstream(name, std::ios::binary).read(begin.data(), begin.size());
  return std::memcmp(begin.data(), ELFMAG, SELFMAG) == 0;
}

std::string fault_of_output(const std::string& name) {
  if (!is_program(name)) return {};
  return name + " is a program or a library, over which no result is written; name another file, or remove this one";
}

}  // namespace

CLI::Option* as_file(CLI::Option* option, Stdout dash) {
  return option->type_name(kFile)->check([dash](const std::string& name) {
    return dash == Stdout::taken && name == "-" ? std::string() : fault_of_name(name, "file");
  });
}

CLI::Option* as_folder(CLI::Option* option) {
  return option->type_name(kFolder)->check([](const std::string& name) { return fault_of_name(name, "folder"); });
}

CLI::Option* as_output(CLI::Option* option, Stdout dash) { return as_file(option, dash)->check(fault_of_output); }

}  // namespace weft::tools
