// SPDX-License-Identifier: Apache-2.0
#include "file_option.h"

#include <fstream>
#include <string>
#include <string_view>

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file_name.h"

namespace weft::tools {

namespace {

// Empty: there is none.
std::string fault_of_name(const std::string& name, const std::string& kind) {
  if (!name.empty() && name.front() != '-') return {};
  const std::string wanted = "the name of a " + kind + " is wanted";
  return name.empty() ? wanted + "; this one is empty"
                      : wanted + ", not " + name + "; a " + kind + " of that name is ./" + name;
}

// Or a script, or a library: nothing is written over those. Whether a file may be executed says nothing where a file
// system has all of them so, as that of a memory stick.
bool is_program(const std::string& name) {
  struct stat status{};
  if (stat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  constexpr std::string_view kScript = "#!";
  std::string begin(SELFMAG, '\0');
  std::ifstream(name, std::ios::binary).read(begin.data(), SELFMAG);
  return begin == ELFMAG || begin.starts_with(kScript) || name.ends_with(".py");
}

// The commands that write several files put numbers into their names.
std::string fault_of_output(const std::string& given) {
  for (const std::string& name : {given, platform::with_numbers(given, getpid())}) {
    if (!is_program(name)) continue;
    return name + " is a program or a library, over which no result is written; name another file, or remove this one";
  }
  return {};
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
