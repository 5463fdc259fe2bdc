// SPDX-License-Identifier: Apache-2.0
// Where the initial thread's stack is small (ulimit -s).
#pragma once

namespace weft::tools {

// Runs the command; on a stack of its own if that of the initial thread is small.
int run_with_room(int (*command)(int, char**), int count, char** arguments);

// For a program that is about to be run: the dynamic linker needs more stack for a library that it is told to load than
// for the program alone, and may crash. The limit is raised then, as far as it may be, which is said.
void leave_room_for_linker();

}  // namespace weft::tools
