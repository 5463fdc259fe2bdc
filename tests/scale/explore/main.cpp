// SPDX-License-Identifier: Apache-2.0
// Runs programs on the exploring machine: docs/explanation/explore.md.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "machine/fixed_addresses.h"
#include "machine/places.h"
#include "programs/program.h"
#include "random/random.h"

namespace weft::explore {

std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

namespace {

Random& running() { return static_cast<Random&>(*machine::g_machine); }

}  // namespace

void expect(bool holds, const char* what) {
  if (!holds) running().fail(what);
}
unsigned choose(unsigned count) { return running().choose(count); }
int current_thread() { return running().current(); }
Unobserved::Unobserved() { running().observes = false; }
Unobserved::~Unobserved() { running().observes = true; }

namespace {

struct Arguments {
  std::vector<std::string> programs;
  std::vector<std::string> strategies;
  std::vector<std::string> weakened;
  int runs = 1000;
  uint64_t seed = 1;
  int changes = 3;
  size_t trace = 60;
  bool stale = false;
  bool weakens_each = false;
};

struct Result {
  int runs = 0;
  uint64_t steps = 0;
  size_t executions = 0;
  uint64_t stale_loads = 0;
  bool failed = false;
  uint64_t seed = 0;
  Outcome outcome;
};

Outcome run_once(Random& random, const Entry& entry, const Settings& settings, uint64_t seed) {
  std::unique_ptr<Program> program;
  Random::Program wanted{
      .threads = entry.threads,
      .set_up = [&] { program = entry.make(); },
      .body = [&](int thread) { program->run(thread); },
      .check = [&] { program->check(); },
  };
  const Outcome outcome = random.run(wanted, settings, seed);
  // Threads that have been left where they stand may be in the middle of it.
  if (outcome.failed) (void)program.release();
  return outcome;
}

Settings settings_of(const Entry& entry, const Arguments& arguments) {
  Settings settings;
  settings.stale = arguments.stale;
  settings.changes = arguments.changes;
  settings.trace = arguments.trace;
  settings.may_time_out = entry.may_time_out;
  return settings;
}

// What a run is like: how long it is, and which operations have an order.
void probe(Random& random, const Entry& entry, Settings& settings, int runs) {
  Settings plain = settings;
  plain.schedule = Schedule::random;
  uint64_t steps = 0;
  for (int i = 0; i < runs; ++i)
    steps += static_cast<uint64_t>(run_once(random, entry, plain, 1000 + static_cast<uint64_t>(i)).steps);
  settings.steps = static_cast<int>(steps / static_cast<uint64_t>(runs));
}

Result explore(Random& random, const Entry& entry, Settings settings, const Arguments& arguments) {
  Result result;
  std::unordered_set<uint64_t> executions;
  for (; result.runs < arguments.runs && !result.failed; ++result.runs) {
    result.seed = arguments.seed + static_cast<uint64_t>(result.runs);
    Outcome outcome = run_once(random, entry, settings, result.seed);
    result.steps += static_cast<uint64_t>(outcome.steps);
    result.stale_loads += static_cast<uint64_t>(outcome.stale_loads);
    executions.insert(outcome.execution);
    result.failed = outcome.failed;
    if (outcome.failed) result.outcome = std::move(outcome);
  }
  result.executions = executions.size();
  return result;
}

const char* name_of(Schedule schedule) { return schedule == Schedule::random ? "random" : "pct"; }

bool is_wanted(const Entry& entry, const Arguments& arguments) {
  if (arguments.programs.empty()) return !entry.has_fault;
  return std::any_of(arguments.programs.begin(), arguments.programs.end(), [&](const std::string& name) {
    return name == entry.name || (name == "faults" && entry.has_fault);
  });
}

std::vector<Schedule> strategies_of(const Arguments& arguments) {
  std::vector<Schedule> strategies;
  for (const std::string& name : arguments.strategies)
    strategies.push_back(name == "pct" ? Schedule::priorities : Schedule::random);
  if (strategies.empty()) strategies = {Schedule::random, Schedule::priorities};
  return strategies;
}

// Places by what stands there: code that is in line has several.
std::map<std::string, std::vector<const void*>> strong_places(Random& random, const Entry& entry,
                                                              const Settings& settings) {
  random.collects = true;
  Settings probed = settings;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    probed.schedule = seed % 2 == 0 ? Schedule::random : Schedule::priorities;
    run_once(random, entry, probed, seed);
  }
  random.collects = false;
  std::vector<const void*> sought;
  for (const auto& [place, operation] : random.strong_places) sought.push_back(place);
  const auto names = machine::names_of(sought);
  std::map<std::string, std::vector<const void*>> by_name;
  for (const auto& [place, operation] : random.strong_places) {
    const auto name = names.find(place);
    by_name[(name != names.end() ? name->second : "?") + " " + machine::name_of(operation)].push_back(place);
  }
  return by_name;
}

// In a process of its own: what a run that has failed leaves in the runtime's own variables would disturb others. How
// that process has ended.
template <class Body>
int run_apart(Body&& body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const bool fine = body();
    std::fflush(stdout);
    _exit(fine ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Which strategy misses the order of these operations, and after how many runs.
void print_how_found(Random& random, const Entry& entry, Settings settings, const Arguments& arguments,
                     const std::vector<const void*>& places) {
  const int status = run_apart([&] {
    random.weakened.insert(places.begin(), places.end());
    for (const Schedule strategy : strategies_of(arguments)) {
      settings.schedule = strategy;
      const Result result = explore(random, entry, settings, arguments);
      if (!result.failed) continue;
      std::printf("found by %s after %d: %s\n", name_of(strategy), result.runs, result.outcome.what.c_str());
      return true;
    }
    std::printf("NOT FOUND\n");
    return true;
  });
  if (status != 0) std::printf("found: it crashes\n");
}

bool is_listed(const std::vector<std::string>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& wanted) { return name.find(wanted) != std::string::npos; });
}

bool explore_entry(const Entry& entry, const Arguments& arguments) {
  Random random;
  Settings settings = settings_of(entry, arguments);
  if (arguments.weakens_each || !arguments.weakened.empty()) {
    probe(random, entry, settings, 10);
    const auto by_name = strong_places(random, entry, settings);
    for (const auto& [name, places] : by_name) {
      if (arguments.weakens_each) {
        std::printf("%s: %s: ", entry.name, name.c_str());
        print_how_found(random, entry, settings, arguments, places);
      } else if (is_listed(arguments.weakened, name)) {
        std::printf("%s: without order: %s\n", entry.name, name.c_str());
        random.weakened.insert(places.begin(), places.end());
      }
    }
    if (arguments.weakens_each) return true;
    if (random.weakened.empty()) {
      std::printf("%s: FAILED: there is no such operation\n", entry.name);
      return false;
    }
  }
  // With a fault the first runs are to be the ones that count.
  if (random.weakened.empty() && !entry.has_fault) probe(random, entry, settings, 10);
  for (const Schedule strategy : strategies_of(arguments)) {
    settings.schedule = strategy;
    const Result result = explore(random, entry, settings, arguments);
    std::printf("%s: %s: %d runs, %zu executions, %llu steps a run, %llu stale loads: %s\n", entry.name,
                name_of(strategy), result.runs, result.executions,
                static_cast<unsigned long long>(result.steps / static_cast<uint64_t>(std::max(1, result.runs))),
                static_cast<unsigned long long>(result.stale_loads), result.failed ? "FAILED" : "nothing found");
    if (result.failed) {
      std::printf("  %s\n%s", result.outcome.what.c_str(), machine::text_of(result.outcome.trace).c_str());
      std::printf("  again: --program %s --strategy %s --seed %llu --runs 1%s", entry.name, name_of(strategy),
                  static_cast<unsigned long long>(result.seed), arguments.stale ? " --stale" : "");
      for (const std::string& text : arguments.weakened) std::printf(" --weaken '%s'", text.c_str());
      std::printf("\n");
      return false;
    }
  }
  return true;
}

bool explore_apart(const Entry& entry, const Arguments& arguments) {
  const int status = run_apart([&] { return explore_entry(entry, arguments); });
  if (WIFSIGNALED(status)) std::printf("%s: FAILED by signal %d\n", entry.name, WTERMSIG(status));
  return status == 0;
}

}  // namespace

}  // namespace weft::explore

int main(int count, char** words) {
  using namespace weft::explore;
  // Some addresses decide what a table does.
  weft::machine::fix_addresses(words);
  Arguments arguments;
  bool lists = false;
  CLI::App app{"Explores schedules and memory orders of weft's protocols"};
  app.add_flag("--list", lists, "the programs");
  app.add_option("--program", arguments.programs, "by name; 'faults': those with a fault; none: all others");
  app.add_option("--strategy", arguments.strategies, "random or pct; none: both")
      ->check(CLI::IsMember({"random", "pct"}));
  app.add_option("--runs", arguments.runs, "of each program with each strategy");
  app.add_option("--seed", arguments.seed, "of the first run; each later one has the next");
  app.add_option("--changes", arguments.changes, "of priorities in a run, with pct");
  app.add_option("--trace", arguments.trace, "how many operations before a failure are printed")
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--stale", arguments.stale, "loads may return older values");
  app.add_option("--weaken", arguments.weakened,
                 "operations that are to have no order, by a part of what --weaken-each calls them");
  app.add_flag("--weaken-each", arguments.weakens_each, "weakens each operation in turn, and says which are missed");
  CLI11_PARSE(app, count, words);
  std::sort(entries().begin(), entries().end(),
            [](const Entry& one, const Entry& other) { return std::strcmp(one.name, other.name) < 0; });
  for (const std::string& name : arguments.programs) {
    const bool known = name == "faults" || std::any_of(entries().begin(), entries().end(),
                                                       [&](const Entry& entry) { return name == entry.name; });
    if (!known) {
      std::fprintf(stderr, "no program is called %s\n", name.c_str());
      return 2;
    }
  }
  bool fine = true;
  for (const Entry& entry : entries()) {
    if (lists) {
      std::printf("%s%s\n", entry.name, entry.has_fault ? " (a planted fault)" : "");
    } else if (is_wanted(entry, arguments)) {
      fine = explore_apart(entry, arguments) && fine;
    }
  }
  return fine ? 0 : 1;
}
