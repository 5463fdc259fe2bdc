// SPDX-License-Identifier: Apache-2.0
// `weft`: parses its command line and does what it says.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/message.h"
#include "command_line.h"
#include "exit_codes.h"
#include "info.h"
#include "job.h"
#include "merge.h"
#include "node.h"
#include "numa/numa.h"
#include "old_spellings.h"
#include "platform/launcher.h"
#include "report/command/files.h"
#include "run.h"
#include "run_options.h"
#include "stack_limit.h"
#include "suggestion.h"
#include "threads/threads.h"
#include "top/top.h"
#include "trace.h"
#include "tune.h"

namespace {

using weft::tools::kUsage;
using weft::tools::suggestion;

// Where the program stands among the arguments of `run` or `trace`: behind "--", or the first that is neither an option
// nor the value of one. What follows is the program's, so it must not be parsed.
int find_program(const CLI::App& command, int count, char** arguments) {
  int i = 2;
  for (; i < count && arguments[i][0] == '-'; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--") return i + 1;
    const CLI::Option* option = command.get_option_no_throw(std::string(argument));
    if (option != nullptr && option->get_items_expected_max() > 0) ++i;
  }
  return i;
}

// `weft report FILE -o page.html`: options may stand behind files, which have none themselves. They come first then.
std::vector<std::string> take_files(const CLI::App& command, std::vector<char*>& arguments, int first) {
  std::vector<char*> options(arguments.begin(), arguments.begin() + first);
  std::vector<std::string> files;
  for (size_t i = static_cast<size_t>(first); i < arguments.size(); ++i) {
    const std::string argument = arguments[i];
    if (argument.size() < 2 || argument[0] != '-') {
      files.push_back(argument);
      continue;
    }
    options.push_back(arguments[i]);
    const CLI::Option* option = command.get_option_no_throw(argument);
    if (option != nullptr && option->get_items_expected_max() > 0 && i + 1 < arguments.size()) {
      options.push_back(arguments[++i]);
    }
  }
  arguments = options;
  return files;
}

// Whether the word is the number of a process, and no program here has such a name.
bool is_process(const char* word) {
  const std::string_view number = word;
  const bool digits = !number.empty() && number.size() < 10 && number.find_first_not_of("0123456789") == number.npos;
  return digits && access(word, F_OK) != 0;
}

// An option that says how a program is run; empty: none was given.
std::string option_of_runs(const CLI::App& report) {
  for (const CLI::Option* option : report.get_options()) {
    const std::string name = option->get_name();
    if (option->count() > 0 && name != "--output" && name != "--json" && name != "--quiet" && name != "--no-source")
      return name;
  }
  return {};
}

// The command that was found on the line, `weft node status` at most.
const CLI::App& command_of(const CLI::App& app) {
  return app.get_subcommands().empty() ? app : command_of(*app.get_subcommands().front());
}

std::string name_of(const CLI::App& command) {
  return command.get_parent() == nullptr ? "weft" : name_of(*command.get_parent()) + ' ' + command.get_name();
}

// A word that the user has typed, in a message: an empty one is to be seen.
const char* shown(const char* word) { return *word != '\0' ? word : "''"; }

// `weft help run` and `weft version` are options to the parser: spells them so in `words`. What is wrong; empty:
// nothing.
std::string spell_as_options(std::vector<std::string>& words, const CLI::App& app) {
  if (words.empty()) return {};
  if (words.front() == "version") {
    words.front() = "--version";
    return words.size() == 1 ? "" : "version: " + words[1] + ": nothing is wanted there; see weft --help";
  }
  if (words.front() != "help") return {};
  words.erase(words.begin());
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  words = weft::tools::as_spelled_now(std::move(words));
  const CLI::App* command = &app;
  size_t named = 0;
  for (; named < words.size(); ++named) {
    const auto is_named = [&](const CLI::App* inner) { return inner->get_name() == words[named]; };
    const std::vector<const CLI::App*> found = command->get_subcommands(is_named);
    if (found.empty()) break;
    command = found.front();
  }
  // What is no command to the parser.
  if (named == 0 && words.size() == 1 && (words.front() == "help" || words.front() == "version")) words.clear();
  // A command that is not there is refused as everywhere.
  if (named == 0 && !words.empty()) return {};
  if (named < words.size()) {
    const std::string name = name_of(*command);
    return std::string("help: ") + shown(words[named].c_str()) + ": " + name + " has no such command; see " + name +
           " --help";
  }
  words.push_back("--help");
  return {};
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) names.push_back(option->get_name());
  return names;
}

// `word` stands where one of `command`'s commands should.
std::string no_such_command(const CLI::App& command, const char* word) {
  const std::vector<std::string> names = names_of_commands(command);
  std::string all;
  for (size_t i = 0; i < names.size(); ++i) {
    all += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  const std::string before = command.get_parent() == nullptr ? "" : command.get_name() + ": ";
  const std::string meant = suggestion(word, names);
  return before + shown(word) + ": no such command; " + (meant.empty() ? "there are " + all : meant) + " (" +
         name_of(command) + " --help)";
}

// What is wrong on the line: CLI11's words, but where an option that is meant once was given again, or where it misses
// a command or a file, or has one too many, and an option is none.
std::string fault_of_line(const CLI::App& app, const CLI::App& command, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(true);
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  const bool misses_or_has_more = code == CLI::ExitCodes::RequiredError || code == CLI::ExitCodes::ExtrasError;
  if (misses_or_has_more && !unknown.empty() && unknown.front().starts_with("-") && unknown.front() != "--") {
    const std::string& word = unknown.front();
    const std::string meant = suggestion(std::string_view(word).substr(0, word.find('=')), names_of_options(command));
    return word + ": no such option" + (meant.empty() ? "" : "; " + meant);
  }
  for (const CLI::Option* option : command.get_options()) {
    const auto most = static_cast<size_t>(option->get_items_expected_max());
    if (most == 1 && option->count() > most) return option->get_name() + ": is given twice; leave one out";
  }
  return error.what();
}

// Of reports, or of the two programs whose commands are `words`, with "--" between.
int run_compare(const weft::tools::CommandLine& line, const std::vector<std::string>& words) {
  const weft::tools::CompareOptions& options = line.compare_options;
  if (words.empty() && !options.sides.empty() && line.compare->count("--time-limit") == 0)
    return weft::tools::compare_reports(options);
  const auto commands = weft::tools::commands_of_duel(words);
  if (commands.empty() || !options.sides.empty()) {
    weft::base::warn("compare: two reports are wanted, or two programs: -- A -- B; see weft compare --help");
    return kUsage;
  }
  return weft::tools::duel({line.duel_seconds, options.json}, commands);
}

// The exit code of what has been said on stdout: somebody may rely on it, so that what could not be written is a
// failure.
int written(int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return code;
  weft::base::warn("standard output: %s", std::strerror(errno));
  return code != 0 ? code : EXIT_FAILURE;
}

int run_command(int typed_count, char** typed) {
  weft::tools::CommandLine line;
  CLI::App& app = line.app;
  // The words of the line, first the command's own name.
  std::vector<std::string> words{typed + std::min(typed_count, 1), typed + typed_count};
  if (const std::string fault = spell_as_options(words, app); !fault.empty()) {
    weft::base::warn("%s", fault.c_str());
    return kUsage;
  }
  words = weft::tools::as_spelled_now(std::move(words));
  words.insert(words.begin(), "weft");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  const int count = static_cast<int>(pointers.size());
  char** arguments = pointers.data();
  weft::tools::RunOptions& run = line.run_options;
  if (count <= 1) {
    std::cout << app.help();
    return written(kUsage);
  }
  int parsed = count;
  std::vector<std::string> files;  // to be reported on
  int process = 0;  // likewise
  std::vector<std::string> words_behind;
  const std::string_view name = count > 1 ? arguments[1] : "";
  if (name == "run" || name == "trace" || name == "report" || name == "numa" || name == "info" || name == "doctor") {
    const CLI::App& command = *app.get_subcommand(std::string(name));
    parsed = std::min(find_program(command, count, arguments), count);
    run.command.assign(arguments + parsed, arguments + count);
    if (parsed > 2 && std::string_view(arguments[parsed - 1]) == "--") {
      --parsed;
    } else if (name == "report" && parsed < count && weft::tools::report::is_for_reading(arguments[parsed])) {
      files = take_files(command, pointers, parsed);
      parsed = static_cast<int>(pointers.size());
      arguments = pointers.data();
    } else if (name == "report" && parsed < count && is_process(arguments[parsed])) {
      process = std::stoi(arguments[parsed]);
      for (const std::string& word : take_files(command, pointers, parsed)) words_behind.push_back(word);
      parsed = static_cast<int>(pointers.size());
      arguments = pointers.data();
    }
  }
  std::vector<std::string> duellists;
  if (name == "compare") {
    const auto* const words_begin = arguments + 2;
    const auto* const end = arguments + count;
    const auto* const first = std::find(words_begin, end, std::string_view("--"));
    if (first != end) duellists.assign(first + 1, end);
    parsed = static_cast<int>(first - arguments);
  }
  try {
    app.parse(parsed, arguments);
  } catch (const CLI::CallForHelp& help) {
    return written(app.exit(help));
  } catch (const CLI::CallForVersion& version) {
    return written(app.exit(version));
  } catch (const CLI::ParseError& error) {
    if (count > 1 && arguments[1][0] != '-' && app.get_subcommands().empty()) {
      weft::base::warn("%s", no_such_command(app, arguments[1]).c_str());
      return kUsage;
    }
    for (const CLI::App* parent : {line.node, line.tune}) {
      if (parent->parsed() && parent->get_subcommands().empty() && count > 2 && arguments[2][0] != '-') {
        weft::base::warn("%s", no_such_command(*parent, arguments[2]).c_str());
        return kUsage;
      }
    }
    const CLI::App& command = command_of(app);
    const std::string fault = fault_of_line(app, command, error);
    const char* see = fault.ends_with('?') ? " See" : "; see";
    weft::base::warn("%s%s %s --help", fault.c_str(), see, name_of(command).c_str());
    return kUsage;
  }
  if (line.info->parsed()) return written(weft::tools::info(line.info_json, run.command));
  if (line.doctor->parsed()) return written(weft::tools::doctor(line.doctor_options, run.command));
  if (line.node_status->parsed()) return written(weft::tools::node_status(line.node_json));
  if (line.node_reset->parsed()) return written(weft::tools::node_reset(line.node_force));
  if (line.merge->parsed()) return weft::tools::merge(line.merged_traces, line.merged_file);
  if (line.compare->parsed()) return written(run_compare(line, duellists));
  if (line.threads->parsed()) return written(weft::tools::show_threads(line.threads_options));
  if (line.top->parsed()) return written(weft::tools::top(line.top_options));
  if (line.tune->parsed()) return weft::tools::tune({arguments + 2, arguments + count});
  if (process != 0) {
    if (words_behind.size() > 1) {
      weft::base::warn("report: %s: one process is reported on at a time", words_behind[1].c_str());
      return kUsage;
    }
    if (const std::string misplaced = option_of_runs(*line.report); !misplaced.empty()) {
      weft::base::warn("report: %s: says how a program is run; process %d runs already", misplaced.c_str(), process);
      return kUsage;
    }
    if (line.report->count("--output") == 0) {
      line.report_options.page = "weft-report-" + std::to_string(process) + ".html";
    }
    return written(weft::tools::report_process(line.report_options, process));
  }
  if (line.report->parsed() && line.report->count("--profile") > 0) {
    if (!run.command.empty() || !line.against.empty() || !run.trace.empty()) {
      weft::base::warn("report: --profile: nothing is run then: leave out the program, --against and --trace");
      return kUsage;
    }
    return written(weft::tools::make_report_of_profile(line.report_options));
  }
  if (run.command.empty()) {
    weft::base::warn("%s: which program? see weft %s --help", arguments[1], arguments[1]);
    return kUsage;
  }
  weft::tools::add_from_environment(run);
  if (const std::string fault = weft::tools::fault_of_options(run); !fault.empty()) {
    weft::base::warn("%s", fault.c_str());
    return kUsage;
  }
  if (line.numa->parsed()) {
    line.numa_options.command = run.command;
    line.numa_options.is_program = std::string_view(arguments[parsed]) == "--";
    line.numa_options.on_weft = weft::tools::has_run_option(*line.numa);
    return written(weft::tools::show_numa(line.numa_options, run));
  }
  if (line.report->parsed()) {
    if (files.empty() && line.report->count("--output") == 0 && weft::platform::rank_by_launcher() != nullptr &&
        !weft::tools::job_by_launcher()) {
      line.report_options.page = "weft-report-%r.html";
    }
    const std::string misplaced = files.empty() ? "" : option_of_runs(*line.report);
    if (!misplaced.empty()) {
      weft::base::warn("report: %s: says how a program is run; %s is a file that is read", misplaced.c_str(),
                       files.front().c_str());
      return kUsage;
    }
    line.report_options.against_stock = !line.against.empty();
    if (!files.empty()) return written(weft::tools::report_files(line.report_options, files));
    return written(weft::tools::make_report(line.report_options, run));
  }
  if (line.trace->parsed()) {
    const bool named = line.trace->count("--output") > 0;
    run.trace = run.mpi && !named ? "weft-trace-%r.json" : line.trace_file;
    return weft::tools::make_trace(run);
  }
  return weft::tools::run(run);
}

}  // namespace

int main(int count, char** arguments) { return weft::tools::run_with_room(run_command, count, arguments); }
