// SPDX-License-Identifier: Apache-2.0
// One construct on one machine. study.py runs many and makes the page of them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <CLI/CLI.hpp>

#include "machine/fixed_addresses.h"
#include "study/constructs.h"
#include "study/report.h"
#include "timed/timed.h"

int main(int count, char** arguments) {
  // Where things lie in memory is part of what decides who waits for whom.
  weft::machine::fix_addresses(arguments);
  CLI::App app("Runs a construct of OpenMP on a machine that does not exist.");
  std::string machine_file;
  std::string construct_name = "flat";
  int threads = 0;
  int cpus = 0;
  int repetitions = 11;
  bool as_json = false;
  app.add_option("--machine", machine_file, "A file of presets/")->required();
  app.add_option("--construct", construct_name, "Which one");
  app.add_option("--threads", threads, "Of the team; the default is one a CPU");
  app.add_option("--cpus", cpus, "That the program may use, the first of the machine; the default is all");
  app.add_option("--repetitions", repetitions, "Of the construct");
  app.add_flag("--json", as_json, "For programs");
  CLI11_PARSE(app, count, arguments);

  const weft::scale::Construct* construct = nullptr;
  for (const auto& known : weft::scale::constructs()) {
    if (construct_name == known.name) construct = &known;
  }
  if (construct == nullptr) {
    std::fprintf(stderr, "scale: no construct is called %s; there are", construct_name.c_str());
    for (const auto& known : weft::scale::constructs()) std::fprintf(stderr, " %s", known.name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  auto model = weft::scale::Model::read(machine_file);
  if (cpus == 0) cpus = model.cpus();
  weft::scale::Timed machine(std::move(model), cpus);
  if (threads == 0) threads = machine.cpus();
  weft::scale::Outcome outcome;
  machine.run([&] { outcome = construct->run(threads, repetitions); });
  const nlohmann::json result = weft::scale::report(machine, *construct, threads, outcome);
  if (as_json) {
    std::printf("%s\n", result.dump().c_str());
  } else {
    weft::scale::print(result);
  }
  std::fflush(stdout);
  // The machine's threads stand where they are.
  std::_Exit(0);
}
