// SPDX-License-Identifier: Apache-2.0
// What manual pages and completions need to know of the commands, read from the parser's own definitions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace weft::tools {

struct OptionModel {
  std::vector<std::string> names;    // with their dashes, the short ones first
  std::string value;                 // what its value is called; empty: it takes none
  std::string limits;                // what numbers it takes, as "1 - 4096"; empty: not said
  std::vector<std::string> choices;  // the values there are; empty: any
  bool is_file = false;
  bool repeats = false;
  std::string initial;  // the value that holds without it; empty: its help says so
  std::string help;
};

struct Section {
  std::string title;
  std::vector<std::string> lines;
};

struct CommandModel {
  std::string path;     // as it is typed: weft node status
  std::string usage;    // what follows the path: [OPTIONS] [--] PROGRAM [ARGUMENTS...]
  std::string summary;  // a sentence, without its full stop
  std::string description;
  bool takes_program = false;  // and what follows that is the program's
  std::vector<OptionModel> options;
  std::vector<CommandModel> commands;
  std::vector<Section> sections;  // of what --help says at its end

  std::string name() const;    // the last word of the path
  std::string dashed() const;  // weft-node-status
};

CommandModel model_of(const CLI::App& app, const std::string& name);

// Calls `visit` for the command and all below it.
void each_command(const CommandModel& command, const std::function<void(const CommandModel&)>& visit);

}  // namespace weft::tools
