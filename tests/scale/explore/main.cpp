// SPDX-License-Identifier: Apache-2.0
// Runs programs on the exploring machine: docs/explanation/explore.md.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "machine/machine.h"
#include "places/places.h"
#include "programs/program.h"

namespace weft::explore {

std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}

void expect(bool holds, const char* what) {
  if (!holds) g_machine->fail(what);
}
unsigned choose(unsigned count) { return g_machine->choose(count); }
int current_thread() { return g_machine->current(); }
Unobserved::Unobserved() { g_machine->observes = false; }
Unobserved::~Unobserved() { g_machine->observes = true; }

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

Outcome run_once(Machine& machine, const Entry& entry, const Settings& settings, uint64_t seed) {
  std::unique_ptr<Program> program;
  Machine::Program wanted{
      .threads = entry.threads,
      .set_up = [&] { program = entry.make(); },
      .body = [&](int thread) { program->run(thread); },
      .check = [&] { program->check(); },
  };
  const Outcome outcome = machine.run(wanted, settings, seed);
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
void probe(Machine& machine, const Entry& entry, Settings& settings, int runs) {
  Settings plain = settings;
  plain.strategy = Strategy::random;
  uint64_t steps = 0;
  for (int i = 0; i < runs; ++i)
    steps += static_cast<uint64_t>(run_once(machine, entry, plain, 1000 + static_cast<uint64_t>(i)).steps);
  settings.steps = static_cast<int>(steps / static_cast<uint64_t>(runs));
}

Result explore(Machine& machine, const Entry& entry, Settings settings, const Arguments& arguments) {
  Result result;
  std::unordered_set<uint64_t> executions;
  for (; result.runs < arguments.runs && !result.failed; ++result.runs) {
    result.seed = arguments.seed + static_cast<uint64_t>(result.runs);
    Outcome outcome = run_once(machine, entry, settings, result.seed);
    result.steps += static_cast<uint64_t>(outcome.steps);
    result.stale_loads += static_cast<uint64_t>(outcome.stale_loads);
    executions.insert(outcome.execution);
    result.failed = outcome.failed;
    if (outcome.failed) result.outcome = std::move(outcome);
  }
  result.executions = executions.size();
  return result;
}

void print_trace(const Outcome& outcome) {
  std::vector<const void*> sought;
  for (const Event& event : outcome.trace) sought.push_back(event.place);
  const auto names = places::names_of(sought);
  constexpr const char* kNames[] = {"loads", "stores", "updates", "fence", "waits", "wakes", "races", ""};
  std::map<uintptr_t, int> words;
  for (const Event& event : outcome.trace) {
    const auto name = names.find(event.place);
    std::printf("  thread %d %-11s", event.thread, kNames[static_cast<size_t>(event.operation)]);
    if (event.address != 0) {
      const int word = words.emplace(event.address, static_cast<int>(words.size())).first->second;
      // Addresses depend on what has been allocated in earlier runs.
      constexpr uint64_t kAddresses = uint64_t{1} << 40;
      if (event.value < kAddresses) {
        std::printf(" word %d: %llu", word, static_cast<unsigned long long>(event.value));
      } else {
        std::printf(" word %d: an address", word);
      }
    }
    if (event.stale > 0) std::printf(" (%u newer)", event.stale);
    std::printf("  at %s\n", name != names.end() ? name->second.c_str() : "?");
  }
}

const char* name_of(Strategy strategy) { return strategy == Strategy::random ? "random" : "pct"; }

bool is_wanted(const Entry& entry, const Arguments& arguments) {
  if (arguments.programs.empty()) return !entry.has_fault;
  return std::any_of(arguments.programs.begin(), arguments.programs.end(), [&](const std::string& name) {
    return name == entry.name || (name == "faults" && entry.has_fault);
  });
}

std::vector<Strategy> strategies_of(const Arguments& arguments) {
  std::vector<Strategy> strategies;
  for (const std::string& name : arguments.strategies)
    strategies.push_back(name == "pct" ? Strategy::priorities : Strategy::random);
  if (strategies.empty()) strategies = {Strategy::random, Strategy::priorities};
  return strategies;
}

// Places by what stands there: code that is in line has several.
std::map<std::string, std::vector<const void*>> strong_places(Machine& machine, const Entry& entry,
                                                              const Settings& settings) {
  machine.collects = true;
  Settings probed = settings;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    probed.strategy = seed % 2 == 0 ? Strategy::random : Strategy::priorities;
    run_once(machine, entry, probed, seed);
  }
  machine.collects = false;
  std::vector<const void*> sought;
  for (const auto& [place, operation] : machine.strong_places) sought.push_back(place);
  const auto names = places::names_of(sought);
  constexpr const char* kNames[] = {"load", "store", "update", "fence", "wait", "wake", "race", ""};
  std::map<std::string, std::vector<const void*>> by_name;
  for (const auto& [place, operation] : machine.strong_places) {
    const auto name = names.find(place);
    by_name[(name != names.end() ? name->second : "?") + " " + kNames[static_cast<size_t>(operation)]].push_back(place);
  }
  return by_name;
}

// In a process of its own, whose runtime nobody uses afterwards. The strategy that finds it and after how many runs.
std::string find_weakened(Machine& machine, const Entry& entry, const Settings& settings, const Arguments& arguments,
                          const std::vector<const void*>& places) {
  int ends[2];
  if (pipe(ends) != 0) return "?";
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    machine.weakened.insert(places.begin(), places.end());
    std::string text = "NOT FOUND";
    for (const Strategy strategy : strategies_of(arguments)) {
      Settings with = settings;
      with.strategy = strategy;
      const Result result = explore(machine, entry, with, arguments);
      if (!result.failed) continue;
      text = "found by " + std::string(name_of(strategy)) + " after " + std::to_string(result.runs) + ": " +
             result.outcome.what;
      break;
    }
    if (write(ends[1], text.data(), text.size()) < 0) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[256];
  for (ssize_t size; (size = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? text : "found: it crashes";
}

bool is_listed(const std::vector<std::string>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& wanted) { return name.find(wanted) != std::string::npos; });
}

bool explore_entry(const Entry& entry, const Arguments& arguments) {
  Machine machine;
  Settings settings = settings_of(entry, arguments);
  if (arguments.weakens_each || !arguments.weakened.empty()) {
    probe(machine, entry, settings, 10);
    const auto by_name = strong_places(machine, entry, settings);
    for (const auto& [name, places] : by_name) {
      if (arguments.weakens_each) {
        std::printf("%s: %s: %s\n", entry.name, name.c_str(),
                    find_weakened(machine, entry, settings, arguments, places).c_str());
      } else if (is_listed(arguments.weakened, name)) {
        std::printf("%s: without order: %s\n", entry.name, name.c_str());
        machine.weakened.insert(places.begin(), places.end());
      }
    }
    if (arguments.weakens_each) return true;
    if (machine.weakened.empty()) {
      std::printf("%s: FAILED: there is no such operation\n", entry.name);
      return false;
    }
  }
  // With a fault the first runs are to be the ones that count.
  if (machine.weakened.empty() && !entry.has_fault) probe(machine, entry, settings, 10);
  for (const Strategy strategy : strategies_of(arguments)) {
    settings.strategy = strategy;
    const Result result = explore(machine, entry, settings, arguments);
    std::printf("%s: %s: %d runs, %zu executions, %llu steps a run, %llu stale loads: %s\n", entry.name,
                name_of(strategy), result.runs, result.executions,
                static_cast<unsigned long long>(result.steps / static_cast<uint64_t>(std::max(1, result.runs))),
                static_cast<unsigned long long>(result.stale_loads), result.failed ? "FAILED" : "nothing found");
    if (result.failed) {
      std::printf("  %s\n", result.outcome.what.c_str());
      print_trace(result.outcome);
      std::printf("  again: --program %s --strategy %s --seed %llu --runs 1%s", entry.name, name_of(strategy),
                  static_cast<unsigned long long>(result.seed), arguments.stale ? " --stale" : "");
      for (const std::string& text : arguments.weakened) std::printf(" --weaken '%s'", text.c_str());
      std::printf("\n");
      return false;
    }
  }
  return true;
}

// In a process of its own: what a run that has failed leaves in the runtime's own variables would disturb others.
bool explore_apart(const Entry& entry, const Arguments& arguments) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const bool fine = explore_entry(entry, arguments);
    std::fflush(stdout);
    _exit(fine ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::printf("%s: FAILED by signal %d\n", entry.name, WTERMSIG(status));
  return status == 0;
}

}  // namespace

}  // namespace weft::explore

int main(int count, char** words) {
  using namespace weft::explore;
  // The same addresses each time: some decide what a table does.
  if ((personality(0xffffffff) & ADDR_NO_RANDOMIZE) == 0 && personality(ADDR_NO_RANDOMIZE) != -1) {
    execv("/proc/self/exe", words);
  }
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
