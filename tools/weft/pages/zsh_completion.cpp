// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>

#include "pages/completions.h"

namespace weft::tools {

namespace {

// Inside single quotes, and inside the brackets and between the colons of _arguments.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string function_of(const CommandModel& command) {
  std::string name = "_" + command.path;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string joined(const std::vector<std::string>& words, char separator) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : std::string(1, separator)) + word;
  return out;
}

// For _arguments: '(-f --factor)'{-f,--factor=}'[help]:FLOAT: '
std::string specification(const OptionModel& option) {
  std::string out;
  if (option.names.size() > 1) out = "'(" + joined(option.names, ' ') + ")'{";
  std::vector<std::string> names;
  for (std::string name : option.names) {
    if (!option.value.empty()) name += name.starts_with("--") ? "=" : "+";
    names.push_back(name);
  }
  out += option.names.size() > 1 ? joined(names, ',') + "}'" : (option.repeats ? "'*" : "'") + names.front();
  out += "[" + escaped(option.help) + "]";
  if (!option.value.empty()) {
    out += ":" + escaped(option.value) + ":";
    if (option.is_file) {
      out += "_files";
    } else if (!option.choices.empty()) {
      out += "(" + joined(option.choices, ' ') + ")";
    } else {
      out += " ";
    }
  }
  return out + "'";
}

void print_function(std::ostream& out, const CommandModel& command) {
  out << '\n' << function_of(command) << "() {\n";
  const bool has_commands = !command.commands.empty();
  if (has_commands) {
    out << "  local curcontext=$curcontext state line\n  local -a commands=(\n";
    for (const CommandModel& below : command.commands) {
      out << "    '" << below.name() << ":" << escaped(below.summary) << "'\n";
    }
    out << "  )\n";
  }
  out << "  _arguments " << (has_commands ? "-C" : "-S");
  for (const OptionModel& option : command.options) out << " \\\n    " << specification(option);
  if (command.takes_program) out << " \\\n    '(-):program:_command_names -e' \\\n    '*::arguments:_normal'";
  if (has_commands) out << " \\\n    '1:command:->command' \\\n    '*::argument:->argument'";
  out << '\n';
  if (has_commands) {
    out << "  case $state in\n    command) _describe command commands ;;\n    argument)\n      case $words[1] in\n";
    for (const CommandModel& below : command.commands) {
      out << "        " << below.name() << ") " << function_of(below) << " ;;\n";
    }
    out << "      esac ;;\n  esac\n";
  }
  out << "}\n";
}

}  // namespace

std::string zsh_completion(const CommandModel& root) {
  std::ostringstream out;
  out << "#compdef weft\n# Made from the definitions of the command line.\n";
  each_command(root, [&](const CommandModel& command) { print_function(out, command); });
  out << "\n_weft \"$@\"\n";
  return out.str();
}

}  // namespace weft::tools
