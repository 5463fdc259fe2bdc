// SPDX-License-Identifier: Apache-2.0
#include "pages/command_model.h"

#include <algorithm>
#include <regex>
#include <sstream>

#include "command_line.h"
#include "file_option.h"

namespace weft::tools {

namespace {

std::string replaced(std::string text, char from, char to) {
  std::replace(text.begin(), text.end(), from, to);
  return text;
}

OptionModel option_of(const CLI::Option& option) {
  OptionModel model;
  for (const std::string& name : option.get_snames()) model.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) model.names.push_back("--" + name);
  model.help = option.get_description();
  if (option.get_items_expected_max() == 0) return model;
  // What it is called, and behind a colon what is checked: INT:INT in [1 - 4096], TEXT:{a,b}.
  const std::string type = option.get_type_name();
  model.value = type.substr(0, type.find(':'));
  model.is_file = model.value == kFile;
  model.repeats = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  model.initial = option.get_default_str();
  std::smatch found;
  if (std::regex_search(type, found, std::regex(R"(in \[(.*)\])"))) model.limits = found[1];
  if (std::regex_search(type, found, std::regex(R"(\{(.*)\})"))) {
    std::istringstream list(found[1]);
    for (std::string choice; std::getline(list, choice, ',');) model.choices.push_back(choice);
  }
  return model;
}

// A line that ends with a colon is a title; what stands indented below it is its section.
std::vector<Section> sections_of(const std::string& footer) {
  std::vector<Section> sections;
  std::istringstream text(footer);
  for (std::string line; std::getline(text, line);) {
    if (line.empty()) continue;
    if (line.front() != ' ') {
      sections.push_back({line.substr(0, line.find(':')), {}});
    } else if (!sections.empty()) {
      sections.back().lines.push_back(line.substr(line.find_first_not_of(' ')));
    }
  }
  return sections;
}

// "weft: summary", or perhaps a line of usage, a sentence and more of them.
void describe(CommandModel& model, std::string text) {
  const std::string usage = model.path + " ";
  const std::string title = model.path + ": ";
  if (text.starts_with(usage)) {
    const size_t end = text.find('\n');
    model.usage = text.substr(usage.size(), end - usage.size());
    text.erase(0, end + 1);
  }
  text = replaced(text, '\n', ' ');
  if (text.starts_with(title)) {
    model.summary = text.substr(title.size());
    model.description = model.path + " is " + model.summary + ".";
  } else {
    model.summary = text.substr(0, std::min(text.find(". "), text.size() - 1));
    model.description = text;
  }
  model.takes_program = model.usage.find("PROGRAM") != std::string::npos;
  if (model.usage.empty()) model.usage = model.commands.empty() ? "[OPTIONS]" : "[OPTIONS] COMMAND";
}

}  // namespace

std::string CommandModel::name() const { return path.substr(path.rfind(' ') + 1); }
std::string CommandModel::dashed() const { return replaced(path, ' ', '-'); }

CommandModel model_of(const CLI::App& app, const std::string& name) {
  CommandModel model;
  model.path = name;
  // What is only a place on the line stands in the usage.
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* o) { return o->nonpositional() && !o->get_group().empty(); })) {
    model.options.push_back(option_of(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    model.commands.push_back(model_of(*command, name + " " + command->get_name()));
  }
  model.sections = sections_of(app.get_footer());
  describe(model, app.get_description());
  return model;
}

void each_command(const CommandModel& command, const std::function<void(const CommandModel&)>& visit) {
  visit(command);
  for (const CommandModel& below : command.commands) each_command(below, visit);
}

}  // namespace weft::tools
