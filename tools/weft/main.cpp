// SPDX-License-Identifier: Apache-2.0
// The command line of `weft`.
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
#include "info.h"
#include "node.h"
#include "run.h"
#include "version.h"

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

// CLI::Range lets through what is no number.
std::string between(const std::string& text, double least, double most) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0' && number >= least && number <= most) return {};
  char wanted[96];
  std::snprintf(wanted, sizeof wanted, ": a number from %g to %g is wanted", least, most);
  return text + wanted;
}

// What `run` and `trace` have in common.
void add_run_options(CLI::App* command, weft::tools::RunOptions& run) {
  command->add_flag("--stats", run.stats, "print at exit, on stderr, what the runtime did");
  command->add_flag("--reproducible", run.reproducible,
                    "the same bits from each call of OpenBLAS and each reduction by clang");
  command->add_option("--cpus", run.cpus, "CPUs to use at once (default: what affinity and cgroup allow)")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--node", run.node, "share the CPUs with the user's other processes that are run so");
  command->add_option("--weight", run.weight, "share of the CPUs beside others, with --node (default: 100)")
      ->check(CLI::Range(1, 10000));
  command->add_flag("--preload", run.preload,
                    "load weft by LD_PRELOAD; the default redirects every OpenMP runtime by LD_AUDIT");
  command->add_option("--library", run.runtime, "run on this runtime library");
  command->add_option("--set", run.settings, "NAME=VALUE in the program's environment; may be repeated")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--mode", run.mode,
                   "how the parallel parts share the CPUs: dynamic (default), static, exclusive or counting")
      ->check(CLI::IsMember({"dynamic", "static", "exclusive", "counting"}));
  command
      ->add_option("-f,--factor", run.factor,
                   "with --mode static: threads of a Python pool's worker = F x CPUs / workers")
      ->check([](const std::string& text) { return between(text, 1e-6, 1e6); });
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
  CLI::App app("weft: an OpenMP runtime under which nested parallelism composes");
  app.set_version_flag("--version", std::string("weft ") + weft::tools::kWholeVersion);
  app.require_subcommand(1);

  weft::tools::RunOptions run;
  CLI::App* run_command =
      app.add_subcommand("run",
                         "weft run [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n"
                         "Run a dynamically linked OpenMP program (C, C++, Fortran, Python ...) on weft.\n"
                         "Its exit code, signals and streams are its own.");
  add_run_options(run_command, run);

  std::string trace_file = "weft-trace.json";
  CLI::App* trace_command = app.add_subcommand(
      "trace",
      "weft trace [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n"
      "Run the program as `weft run` does and write a timeline of its teams, tasks and waits, which\n"
      "https://ui.perfetto.dev and chrome://tracing show: one track for each CPU that weft uses.");
  trace_command->add_option("-o,--output", trace_file, "the file; %p in it stands for the process's number")
      ->capture_default_str();
  add_run_options(trace_command, run);

  CLI::App* node_command =
      app.add_subcommand("node", "The processes that share the CPUs of this node (weft run --node, WEFT_NODE=1).");
  node_command->require_subcommand(1);
  bool node_json = false;
  CLI::App* status_command = node_command->add_subcommand("status", "Print them, and what each of them has.");
  status_command->add_flag("--json", node_json, "for programs");
  bool force = false;
  CLI::App* reset_command = node_command->add_subcommand("reset", "Remove the file they share.");
  reset_command->add_flag("--force", force, "even if there are processes: they go on alone");

  weft::tools::TopOptions top;
  CLI::App* top_command =
      app.add_subcommand("top", "Show them, again and again; q ends. Once if stdout is no terminal.");
  top_command->add_flag("--once", top.once, "print once");
  top_command->add_flag("--json", top.json, "for programs; once");
  top_command->add_option("--interval", top.seconds, "seconds between two looks (default: 1)")
      ->check([](const std::string& text) { return between(text, 0.1, 3600); });

  bool json = false;
  CLI::App* info_command = app.add_subcommand("info", "Print what weft sees on this machine and would do.");
  info_command->add_flag("--json", json, "for programs");

  if (count <= 1) {
    std::cout << app.help();
    return written(kUsage);
  }
  int parsed = count;
  const std::string_view name = count > 1 ? arguments[1] : "";
  if (name == "run" || name == "trace") {
    parsed = std::min(find_program(name == "run" ? *run_command : *trace_command, count, arguments), count);
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
      weft::base::warn("%s: no such command; there are run, trace, node, top and info (weft --help)", arguments[1]);
      return kUsage;
    }
    weft::base::warn("%s; see weft --help", error.what());
    return kUsage;
  }
  if (info_command->parsed()) return written(weft::tools::info(json));
  if (status_command->parsed()) return written(weft::tools::node_status(node_json));
  if (reset_command->parsed()) return written(weft::tools::node_reset(force));
  if (top_command->parsed()) return written(weft::tools::top(top));
  if (run.command.empty()) {
    weft::base::warn("%s: which program? see weft %s --help", arguments[1], arguments[1]);
    return kUsage;
  }
  if (trace_command->parsed()) run.trace = trace_file;
  return weft::tools::run(run);
}
