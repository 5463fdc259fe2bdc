// SPDX-License-Identifier: Apache-2.0
#include "help_format.h"

#include <sstream>

namespace weft::tools {

namespace {

// The first line, with its end; empty: there is none.
std::string usage_in(const std::string& description) {
  return description.starts_with("weft ") ? description.substr(0, description.find('\n') + 1) : "";
}

std::string without_usage(const std::string& description) { return description.substr(usage_in(description).size()); }

}  // namespace

std::string HelpFormat::make_description(const CLI::App* app) const {
  return without_usage(app->get_description()) + "\n";
}

std::string HelpFormat::make_usage(const CLI::App* app, std::string name) const {
  const std::string usage = usage_in(app->get_description());
  return usage.empty() ? Formatter::make_usage(app, name) : "Usage: " + usage;
}

std::string HelpFormat::make_subcommand(const CLI::App* command) const {
  std::ostringstream out;
  CLI::detail::format_help(out, command->get_name(), without_usage(command->get_description()), get_column_width());
  return out.str();
}

// Of a value that is checked CLI11's name is INT:INT in [1 - 4096], or TEXT:{a,b}; what is chosen from stands in the
// option's help. Arguments that are no options have names already.
std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  if (!option->nonpositional() || option->get_type_size() == 0) return {};
  const std::string type = option->get_type_name();
  std::string text = " " + type.substr(0, type.find(':'));
  if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
  if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
  if (const size_t limits = type.find('['); limits != std::string::npos) {
    text += " (" + type.substr(limits + 1, type.find(']') - limits - 1) + ")";
  }
  return text;
}

}  // namespace weft::tools
