// SPDX-License-Identifier: Apache-2.0
// What a program has or would have around it: its variables, limits and CPUs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cpu_users.h"
#include "executable.h"
#include "platform/cpus.h"
#include "program.h"
#include "program_runtimes.h"

namespace weft::tools {

struct Patient {
  // Those whose names begin as OpenMP's, weft's and some libraries' do.
  std::map<std::string, std::string> variables;
  platform::CpuBudget cpus;
  int online = 1;
  double load = 0;      // threads that run or want to, over the last minute
  std::vector<CpuUser> busiest;  // where that is much: other programs
  int64_t stack = 0;    // bytes; -1: no limit. Likewise:
  int64_t memory = 0;   // of addresses
  int64_t threads = 0;  // of the user

  // Of a program.
  std::optional<Program> program;
  ProgramRuntimes runtimes;
  Executable file;
  // Of a process.
  int process = 0;
  bool is_on_weft = false;
  std::string other_runtime;  // a file that it has mapped; empty: none

  const std::string* variable(const std::string& name) const {
    const auto found = variables.find(name);
    return found != variables.end() ? &found->second : nullptr;
  }
};

Patient patient_here();
Patient patient_program(const std::string& name);
// None: there is no such process, or it may not be read; *fault says so.
std::optional<Patient> patient_process(int process, std::string* fault);

}  // namespace weft::tools
