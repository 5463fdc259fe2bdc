// SPDX-License-Identifier: Apache-2.0
// --help of each command: one line of usage, and values by their names.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace weft::tools {

// A description may begin with the command's usage, which then takes the place of CLI11's.
class HelpFormat : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace weft::tools
