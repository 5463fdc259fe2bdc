// SPDX-License-Identifier: Apache-2.0
// The command line of an MPI program: `--name value`, and flags. Every rank parses it, before MPI begins.
#pragma once

#include <stdbool.h>

// Where the value goes: to one of the three. A list of them ends with one without a name.
struct program_option {
  const char* name;
  const char* help;
  int* count;  // a number from 1
  const char** text;
  bool* flag;
};

// Exits with status 2 and a message when something else is there, and with 0 behind `--help`.
void parse_options(int argument_count, char** arguments, const struct program_option* known);
// Exits as parse_options() does: the value is none of those that are possible.
_Noreturn void refuse_option(const struct program_option* known, const char* name, const char* value);
