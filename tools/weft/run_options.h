// SPDX-License-Identifier: Apache-2.0
// The options of `weft run`, which every command has that runs a program.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "run.h"

namespace weft::tools {

void add_run_options(CLI::App* command, RunOptions& run);

// Whether one of them was given to another command than `run`.
bool has_run_option(const CLI::App& command);

// Those that the environment gives, for what has to be decided before there is a runtime in the program.
void add_from_environment(RunOptions& run);

// What is wrong with options that mean nothing without another one; empty: nothing.
std::string fault_of_options(const RunOptions& run);

// Why the text is no number in this range; empty: it is one. CLI::Range lets through what is no number.
std::string fault_of_number(const std::string& text, double least, double most);

// A time with a unit (s, m, h) or none, which is seconds: 90s, 1.5m. Why the text is none; empty: it is one.
std::string fault_of_time(const std::string& text);
double seconds_of(const std::string& time);

}  // namespace weft::tools
