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

#include <CLI/CLI.hpp>

#include "base/message.h"
#include "command_line.h"
#include "info.h"
#include "job.h"
#include "merge.h"
#include "node.h"
#include "numa/numa.h"
#include "run.h"
#include "tune.h"

namespace {

constexpr int kUsage = 2;

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

// The command that was found on the line, `weft node status` at most: its help lists the options that it has.
std::string name_of_command(const CLI::App& app) {
  std::string name = "weft";
  for (const CLI::App* command = &app; !command->get_subcommands().empty();) {
    command = command->get_subcommands().front();
    name += ' ' + command->get_name();
  }
  return name;
}

// The exit code of what has been said on stdout: somebody may rely on it, so that what could not be written is a
// failure.
int written(int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return code;
  weft::base::warn("standard output: %s", std::strerror(errno));
  return code != 0 ? code : EXIT_FAILURE;
}

}  // namespace

int main(int count, char** arguments) {
  weft::tools::CommandLine line;
  CLI::App& app = line.app;
  weft::tools::RunOptions& run = line.run_options;
  if (count <= 1) {
    std::cout << app.help();
    return written(kUsage);
  }
  int parsed = count;
  const std::string_view name = count > 1 ? arguments[1] : "";
  if (name == "run" || name == "trace" || name == "report" || name == "numa") {
    const CLI::App& command = *app.get_subcommand(std::string(name));
    parsed = std::min(find_program(command, count, arguments), count);
    run.command.assign(arguments + parsed, arguments + count);
    if (parsed > 2 && std::string_view(arguments[parsed - 1]) == "--") --parsed;
  }
  try {
    app.parse(parsed, arguments);
  } catch (const CLI::CallForHelp& help) {
    return written(app.exit(help));
  } catch (const CLI::CallForVersion& version) {
    return written(app.exit(version));
  } catch (const CLI::ParseError& error) {
    if (count > 1 && arguments[1][0] != '-' && app.get_subcommands().empty()) {
      weft::base::warn(
          "%s: no such command; there are run, trace, merge, report, compare, numa, node, top, tune and info (weft "
          "--help)",
          arguments[1]);
      return kUsage;
    }
    if (line.node->parsed() && line.node->get_subcommands().empty() && count > 2 && arguments[2][0] != '-') {
      weft::base::warn("node: %s: no such command; there are status and reset (weft node --help)", arguments[2]);
      return kUsage;
    }
    if (line.tune->parsed() && line.tune->get_subcommands().empty() && count > 2 && arguments[2][0] != '-') {
      weft::base::warn("tune: %s: no such command; there are collectives, report and explain (weft tune --help)",
                       arguments[2]);
      return kUsage;
    }
    weft::base::warn("%s; see %s --help", error.what(), name_of_command(app).c_str());
    return kUsage;
  }
  if (line.info->parsed()) return written(weft::tools::info(line.info_json));
  if (line.node_status->parsed()) return written(weft::tools::node_status(line.node_json));
  if (line.node_reset->parsed()) return written(weft::tools::node_reset(line.node_force));
  if (line.merge->parsed()) return weft::tools::merge(line.merged_traces, line.merged_file);
  if (line.compare->parsed()) return written(weft::tools::compare_reports(line.compare_options));
  if (line.top->parsed()) return written(weft::tools::top(line.top_options));
  if (line.tune->parsed()) return weft::tools::tune({arguments + 2, arguments + count});
  if (run.command.empty()) {
    weft::base::warn("%s: which program? see weft %s --help", arguments[1], arguments[1]);
    return kUsage;
  }
  if (line.numa->parsed()) {
    line.numa_options.command = run.command;
    line.numa_options.is_program = std::string_view(arguments[parsed]) == "--";
    return written(weft::tools::show_numa(line.numa_options));
  }
  if (line.report->parsed()) {
    if (line.report->count("--output") == 0 && weft::tools::rank_by_launcher() != nullptr &&
        !weft::tools::job_by_launcher()) {
      line.report_options.page = "weft-report-%r.html";
    }
    line.report_options.against_stock = !line.against.empty();
    line.report_options.has_json = line.report->count("--json") > 0;
    return written(weft::tools::make_report(line.report_options, run));
  }
  if (line.trace->parsed()) {
    const bool named = line.trace->count("--output") > 0;
    run.trace = run.mpi && !named ? "weft-trace-%r.json" : line.trace_file;
  }
  return weft::tools::run(run);
}
