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

// Whether a file that begins so is what a command of weft has written: JSON, a page or a picture, metrics, or a text.
bool is_result(const std::string& begin) {
  for (const char* words : {"<", "# TYPE ", "weft "}) {
    if (begin.starts_with(words)) return true;
  }
  const size_t inside = begin.find_first_not_of(" \n", 1);
  return begin.front() == '{' && inside != std::string::npos && (begin[inside] == '"' || begin[inside] == '}');
}

// Or a script, or a library: nothing is written over those. A shell runs any text that may be executed. A file system
// may have all files so, as that of a memory stick: results are known by how they begin.
bool is_program(const std::string& name) {
  struct stat status{};
  if (stat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  constexpr std::string_view kScript = "#!";
  std::string begin(256, '\0');
  std::ifstream file(name, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file.gcount()));
  if (begin.starts_with(ELFMAG) || begin.starts_with(kScript) || name.ends_with(".py")) return true;
  const bool may_run = (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
  return may_run && !begin.empty() && begin.find('\0') == std::string::npos && !is_result(begin);
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
