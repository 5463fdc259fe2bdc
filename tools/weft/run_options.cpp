// SPDX-License-Identifier: Apache-2.0
#include "run_options.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "base/quiet_options.h"
#include "file_option.h"
#include "placement.h"

namespace weft::tools {

namespace {

// --help of other commands has them apart from the command's own.
constexpr char kGroup[] = "Options of weft run";

// The runtime reads it whatever the case of its words, and with blanks.
std::string numa_mode_of_environment() {
  std::string mode;
  for (const char* at = std::getenv("WEFT_NUMA"); at != nullptr && *at != '\0'; ++at) {
    const auto letter = static_cast<unsigned char>(*at);
    if (std::isspace(letter) == 0) mode += static_cast<char>(std::tolower(letter));
  }
  return fault_of_numa_mode(mode).empty() ? mode : "";
}

// What the program would find in the variable without an option for it.
std::string variable_of_program(const RunOptions& run, const std::string& name) {
  for (auto setting = run.settings.rbegin(); setting != run.settings.rend(); ++setting) {
    if (setting->starts_with(name + "=")) return setting->substr(name.size() + 1);
  }
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

}  // namespace

// Each names the variable that says the same. docs/reference/commands.md says why some have none.
void add_run_options(CLI::App* command, RunOptions& run) {
  const size_t own = command->get_options({}).size();
  command
      ->add_flag(
          "--stats", run.stats,
          "print at exit, on stderr, what ran on weft and how the CPUs were used; --stats=all: with the counters of "
          "the runtime (WEFT_STATS)")
      ->check(CLI::IsMember({"true", "all"}));
  command->add_flag("--reproducible", run.reproducible,
                    "the same bits from each call of OpenBLAS and each reduction by clang (WEFT_REPRODUCIBLE)");
  command
      ->add_option("--cpus", run.cpus, "CPUs to use at once (WEFT_NUM_CPUS; default: what affinity and cgroup allow)")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--node", run.node, "share the CPUs with the user's other processes that are run so (WEFT_NODE)");
  command->add_flag("--mpi", run.mpi,
                    "a blocking call of MPI pauses its task, and the CPU does other work meanwhile (WEFT_MPI)");
  command->add_flag("--collectives", run.collectives,
                    "MPI's collectives among ranks of one node by weft, through memory that they share "
                    "(WEFT_COLLECTIVES)");
  command
      ->add_option("--weight", run.weight, "share of the CPUs beside others, with --node (WEFT_WEIGHT; default: 100)")
      ->check(CLI::Range(1, 10000));
  command->add_flag("--preload", run.preload,
                    "load weft by LD_PRELOAD; the default redirects every OpenMP runtime by LD_AUDIT");
  as_file(command->add_option("--library", run.runtime, "run on this runtime library (WEFT_LIBRARY)"));
  command->add_option("--set", run.settings, "NAME=VALUE in the program's environment; may be repeated")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--numa", run.numa,
                   "NUMA nodes: of memory, interleave[=NODES], bind=NODES, preferred=NODE or preferred-many=NODES; of "
                   "threads, and memory beside them, local, compact or spread; or none (WEFT_NUMA; default: none)")
      ->check(fault_of_numa_mode);
  command
      ->add_option(
          "--mode", run.mode,
          "how the parallel parts share the CPUs: dynamic (default), static, exclusive or counting (WEFT_MODE)")
      ->check(CLI::IsMember({"dynamic", "static", "exclusive", "counting"}));
  command
      ->add_option("-f,--factor", run.factor,
                   "with --mode static: threads of a Python pool's worker = F x CPUs / workers (WEFT_STATIC_FACTOR)")
      ->check([](const std::string& text) { return fault_of_number(text, 1e-6, 1e6); });
  if (command->get_name() == "run") return;
  const std::vector<CLI::Option*> all = command->get_options({});
  for (size_t i = own; i < all.size(); ++i) all[i]->group(kGroup);
}

bool has_run_option(const CLI::App& command) {
  const std::vector<const CLI::Option*> all = command.get_options();
  return std::any_of(all.begin(), all.end(),
                     [](const CLI::Option* option) { return option->get_group() == kGroup && option->count() > 0; });
}

void add_from_environment(RunOptions& run) {
  const base::Options& variables = base::quiet_options();
  const auto set = [](bool variable, bool& option, bool& by_variable) {
    by_variable = variable && !option;
    option = option || variable;
  };
  set(variables.mpi, run.mpi, run.by_variable.mpi);
  set(variables.collectives, run.collectives, run.by_variable.collectives);
  run.by_variable.numa = run.numa.empty() && base::places_memory(variables.numa);
  if (run.by_variable.numa) run.numa = numa_mode_of_environment();
}

std::string fault_of_options(const RunOptions& run) {
  const std::string mode = run.mode.empty() ? variable_of_program(run, "WEFT_MODE") : run.mode;
  if (run.factor > 0 && mode != "static") return "--factor: a factor belongs to fixed shares: add --mode static";
  if (run.weight > 0 && !run.node && variable_of_program(run, "WEFT_NODE").empty()) {
    return "--weight: a weight counts among the processes of a node: add --node";
  }
  return {};
}

std::string fault_of_number(const std::string& text, double least, double most) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0' && number >= least && number <= most) return {};
  char wanted[96];
  std::snprintf(wanted, sizeof wanted, ": a number from %g to %g is wanted", least, most);
  return text + wanted;
}

namespace {

// Of the unit at the end of `time`, which has none: seconds.
double take_unit(std::string& time) {
  const char unit = time.empty() ? '\0' : time.back();
  const double seconds = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
  if (seconds == 0) return 1;
  time.pop_back();
  return seconds;
}

}  // namespace

std::string fault_of_time(const std::string& text) {
  std::string number = text;
  take_unit(number);
  return fault_of_number(number, 0.1, 1e7).empty() ? "" : text + ": a time is wanted, as 30, 30s, 5m or 2h";
}

double seconds_of(const std::string& time) {
  std::string number = time;
  const double unit = take_unit(number);
  return unit * std::strtod(number.c_str(), nullptr);
}

}  // namespace weft::tools
