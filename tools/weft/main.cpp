// SPDX-License-Identifier: Apache-2.0
// The command line of `weft`.
#include <algorithm>
#include <string_view>

#include <CLI/CLI.hpp>

#include "base/message.h"
#include "info.h"
#include "run.h"

namespace {

constexpr int kUsage = 2;

// Where the program stands among the arguments of `run`: behind "--", or the first that is neither an option nor the
// value of one. What follows is the program's, so it must not be parsed.
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

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("weft: an OpenMP runtime under which nested parallelism composes");
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  app.require_subcommand(1);

  weft::tools::RunOptions run;
  CLI::App* run_command =
      app.add_subcommand("run",
                         "weft run [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n"
                         "Run a dynamically linked OpenMP program (C, C++, Fortran, Python ...) on weft.\n"
                         "Its exit code, signals and streams are its own.");
  run_command->add_flag("--stats", run.stats, "print at exit, on stderr, what the runtime did");
  run_command->add_option("--cpus", run.cpus, "CPUs to use at once (default: what affinity and cgroup allow)")
      ->check(CLI::Range(1, 4096));
  run_command->add_flag("--preload", run.preload,
                        "load weft by LD_PRELOAD; the default redirects every OpenMP runtime by LD_AUDIT");
  run_command->add_option("--library", run.library, "run on this runtime library");
  run_command->add_option("--set", run.settings, "NAME=VALUE in the program's environment; may be repeated")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);

  bool json = false;
  CLI::App* info_command = app.add_subcommand("info", "Print what weft sees on this machine and would do.");
  info_command->add_flag("--json", json, "for programs");

  int parsed = count;
  if (count > 1 && std::string_view(arguments[1]) == "run") {
    parsed = std::min(find_program(*run_command, count, arguments), count);
    run.command.assign(arguments + parsed, arguments + count);
    if (parsed > 2 && std::string_view(arguments[parsed - 1]) == "--") --parsed;
  }
  try {
    app.parse(parsed, arguments);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    if (count > 1 && arguments[1][0] != '-' && app.get_subcommands().empty()) {
      weft::base::warn("%s: no such command; there are run and info (weft --help)", arguments[1]);
      return kUsage;
    }
    weft::base::warn("%s; see weft --help", error.what());
    return kUsage;
  }
  if (info_command->parsed()) return weft::tools::info(json);
  if (run.command.empty()) {
    weft::base::warn("run: which program? see weft run --help");
    return kUsage;
  }
  return weft::tools::run(run);
}
