// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "pages/completions.h"

namespace weft::tools {

namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// __weft_path says at which command the line is; behind the begin of a program: that and the word PROGRAM.
void print_path_function(std::ostream& out, const CommandModel& root) {
  std::string commands;
  std::string with_value;
  each_command(root, [&](const CommandModel& command) {
    for (const CommandModel& below : command.commands) commands += " " + quoted(below.path);
    for (const OptionModel& option : command.options) {
      if (option.value.empty()) continue;
      for (const std::string& name : option.names) with_value += " " + quoted(command.path + " " + name);
    }
  });
  out << "function __weft_path\n"
         "    set -l path "
      << root.path
      << "\n"
         "    set -l skip 0\n"
         "    set -l words (commandline -opc)\n"
         "    for word in $words[2..-1]\n"
         "        if test $skip = 1\n"
         "            set skip 0\n"
         "            continue\n"
         "        end\n"
         "        switch \"$path $word\"\n"
         "            case"
      << commands
      << "\n"
         "                set path \"$path $word\"\n"
         "            case"
      << with_value
      << "\n"
         "                set skip 1\n"
         "            case '* -*'\n"
         "            case '*'\n"
         "                echo \"$path PROGRAM\"\n"
         "                return\n"
         "        end\n"
         "    end\n"
         "    echo $path\n"
         "end\n";
}

std::string at(const std::string& path) {
  return "complete -c weft -n " + quoted("test (__weft_path) = \"" + path + "\"");
}

void print_option(std::ostream& out, const CommandModel& command, const OptionModel& option) {
  out << at(command.path);
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    out << (is_long ? " -l " + name.substr(2) : " -s " + name.substr(1));
  }
  if (option.is_file) {
    out << " -r -F";
  } else if (!option.value.empty()) {
    out << " -x";
    std::string choices;
    for (const std::string& choice : option.choices) choices += (choices.empty() ? "" : " ") + choice;
    if (!choices.empty()) out << " -a " << quoted(choices);
  }
  out << " -d " << quoted(option.help) << '\n';
}

// The program's name, and behind it what completes the program's own words.
void print_program(std::ostream& out, const CommandModel& command) {
  // fish takes long names for options of its own until it has seen a short one.
  std::string short_names;
  std::string long_names;
  for (const OptionModel& option : command.options) {
    if (option.value.empty()) continue;
    for (const std::string& name : option.names) (name.starts_with("--") ? long_names : short_names) += " " + name;
  }
  const std::string words = "(__fish_complete_subcommand --fcs-skip=2" + short_names + long_names + ")";
  out << at(command.path) << " -x -a " << quoted(words) << '\n';
  out << at(command.path + " PROGRAM") << " -x -a " << quoted(words) << '\n';
}

}  // namespace

std::string fish_completion(const CommandModel& root) {
  std::ostringstream out;
  out << "# Completion of weft for fish. Made from the definitions of the command line.\n";
  print_path_function(out, root);
  out << "complete -c weft -f\n";
  each_command(root, [&](const CommandModel& command) {
    for (const CommandModel& below : command.commands) {
      out << at(command.path) << " -a " << below.name() << " -d " << quoted(below.summary) << '\n';
    }
    for (const OptionModel& option : command.options) print_option(out, command, option);
    if (command.takes_program) print_program(out, command);
  });
  return out.str();
}

}  // namespace weft::tools
