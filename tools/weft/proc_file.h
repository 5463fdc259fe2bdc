// SPDX-License-Identifier: Apache-2.0
// Files of /proc/PID, read by as few system calls as there can be: `weft top` reads many.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace weft::tools {

// The whole file; the room of `text` is used again. False: it cannot be read. A process may end meanwhile.
bool read_proc_file(pid_t process, const char* name, std::string& text);

// The numbers of all processes.
std::vector<pid_t> all_processes();

// How the process was called, for people: its program without the folder, and its arguments; empty: not known, or it is
// the kernel's. It may hold any bytes.
std::string command_line_of(pid_t process);
// The same of the text of /proc/PID/cmdline.
std::string command_line_in(const std::string& arguments);

}  // namespace weft::tools
