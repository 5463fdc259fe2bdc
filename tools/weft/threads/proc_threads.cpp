// SPDX-License-Identifier: Apache-2.0
#include "threads/proc_threads.h"

#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <signal.h>

namespace weft::tools {

std::string in_proc(pid_t process, const std::string& name) { return "/proc/" + std::to_string(process) + '/' + name; }

std::string program_of(pid_t process) {
  std::ifstream file(in_proc(process, "cmdline"), std::ios::binary);
  std::string name;
  std::getline(file, name, '\0');
  return name.substr(name.rfind('/') + 1);
}

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator(in_proc(process, "task"), error)) {
    found.push_back(std::stoi(task.path().filename()));
  }
  return found;
}

SystemThread thread_in(const std::string& text) {
  SystemThread thread;
  if (text.empty() || text.starts_with("running")) return thread;
  auto& a = thread.arguments;
  Registers& registers = thread.registers;
  const int found = std::sscanf(text.c_str(),
                                "%ld 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64
                                " 0x%" SCNx64 " 0x%" SCNx64,
                                &thread.call, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &registers.stack_pointer,
                                &registers.program_counter);
  thread.sleeps = found == 9 && thread.call >= 0;
  return thread.sleeps ? thread : SystemThread();
}

bool tells_calls_of_mpi(pid_t process) {
  bool has_library = false;
  std::ifstream maps(in_proc(process, "maps"));
  for (std::string line; !has_library && std::getline(maps, line);)
    has_library = line.find("/libweft-mpi") != std::string::npos;
  if (!has_library) return false;
  // Who has no handler is ended by the signal.
  std::ifstream status(in_proc(process, "status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigCgt:")) return (std::stoull(line.substr(7), nullptr, 16) >> (SIGUSR1 - 1) & 1) != 0;
  }
  return false;
}

}  // namespace weft::tools
