// SPDX-License-Identifier: Apache-2.0
#include "pages/man_page.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "pages/environment.h"
#include "version.h"

namespace weft::tools {

namespace {

// As roff takes it: characters that it would replace by typographic ones, and no request at the begin of a line.
std::string escaped(const std::string& text) {
  std::string out = text.starts_with('.') ? "\\&" : "";
  for (const char c : text) {
    switch (c) {
      case '-': out += "\\-"; break;
      case '\\': out += "\\e"; break;
      case '\'': out += "\\(aq"; break;
      case '`': out += "\\(ga"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      default: out += c;
    }
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }
std::string reference(const CommandModel& command) { return bold(command.dashed()) + "(1)"; }

void print_option(std::ostream& out, const OptionModel& option) {
  out << ".TP\n";
  for (size_t i = 0; i < option.names.size(); ++i) {
    out << (i == 0 ? "" : ", ") << bold(option.names[i]);
    if (!option.value.empty()) out << ' ' << italic(option.value);
  }
  out << '\n' << escaped(option.help);
  if (!option.limits.empty()) out << "\n[" << escaped(option.limits) << ']';
  if (!option.initial.empty()) out << "\n[default: " << escaped(option.initial) << ']';
  out << '\n';
}

void print_commands(std::ostream& out, const CommandModel& command) {
  if (command.commands.empty()) return;
  out << ".SH COMMANDS\n";
  for (const CommandModel& below : command.commands) {
    out << ".TP\n" << reference(below) << '\n' << escaped(below.summary) << ".\n";
  }
}

void print_environment(std::ostream& out, const CommandModel& command, const CommandModel& root) {
  if (&command == &root) {
    out << ".SH ENVIRONMENT\nThe runtime reads these variables when a program starts.\n";
    for (const Variable& variable : variables()) {
      out << ".TP\n.B " << escaped(variable.name) << '\n' << escaped(variable.help) << '\n';
    }
  } else if (command.takes_program) {
    out << ".SH ENVIRONMENT\n" << reference(root) << " lists the variables that the runtime reads.\n";
  }
}

// Lines that stand as they are.
void print_section(std::ostream& out, const Section& section) {
  out << ".SH " << escaped(upper(section.title)) << "\n.nf\n";
  for (const std::string& line : section.lines) out << escaped(line) << '\n';
  out << ".fi\n";
}

void print_see_also(std::ostream& out, const CommandModel& command, const CommandModel& root) {
  out << ".SH SEE ALSO\n";
  std::string separator;
  each_command(root, [&](const CommandModel& other) {
    if (&other == &command) return;
    out << separator << reference(other);
    separator = ",\n";
  });
  out << '\n';
}

}  // namespace

std::string man_page(const CommandModel& command, const CommandModel& root) {
  std::ostringstream out;
  out << ".\\\" Made from the definitions of the command line.\n"
      << ".TH " << escaped(upper(command.dashed())) << " 1 \"\" \"weft " << kVersion << "\" \"weft\"\n"
      << ".SH NAME\n"
      << escaped(command.dashed()) << " \\- " << escaped(command.summary) << '\n'
      << ".SH SYNOPSIS\n"
      << bold(command.path) << ' ' << escaped(command.usage) << '\n'
      << ".SH DESCRIPTION\n"
      << escaped(command.description) << '\n';
  print_commands(out, command);
  out << ".SH OPTIONS\n";
  for (const OptionModel& option : command.options) print_option(out, option);
  print_environment(out, command, root);
  for (const Section& section : command.sections) print_section(out, section);
  print_see_also(out, command, root);
  return out.str();
}

}  // namespace weft::tools
