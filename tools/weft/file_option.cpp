// SPDX-License-Identifier: Apache-2.0
#include "file_option.h"

#include <string>

namespace weft::tools {

namespace {

// Empty: there is none.
std::string fault_of_name(const std::string& name, const std::string& kind) {
  if (!name.empty() && name.front() != '-') return {};
  const std::string wanted = "the name of a " + kind + " is wanted";
  return name.empty() ? wanted + "; this one is empty"
                      : wanted + ", not " + name + "; a " + kind + " of that name is ./" + name;
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

}  // namespace weft::tools
