// SPDX-License-Identifier: Apache-2.0
// What /proc says of a process and its threads, for all who look at a process that runs.
#pragma once

#include <string>
#include <vector>

#include "threads/inspector.h"

namespace weft::tools {

std::string in_proc(pid_t process, const std::string& name);
// The name of its program, as it was called, without a folder.
std::string program_of(pid_t process);
std::vector<pid_t> threads_of(pid_t process);
// By the text of /proc/PID/task/NUMBER/syscall.
SystemThread thread_in(const std::string& text);

// Whether it runs with --mpi, and says at SIGUSR1 which of its calls of MPI wait.
bool tells_calls_of_mpi(pid_t process);

}  // namespace weft::tools
