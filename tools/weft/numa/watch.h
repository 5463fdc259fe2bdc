// SPDX-License-Identifier: Apache-2.0
// Looks at a process from outside, again and again while it runs.
#pragma once

#include "numa/evidence.h"
#include "numa/kernel.h"

namespace weft::tools::numa {

Balancing balancing_now(const Kernel& kernel);
Balancing since(const Balancing& before, const Balancing& now);

// Adds what was found of the pages of an array at a time.
void add_look(History& history, const std::vector<int>& found, int64_t now = 0);

// Whether others reach into the memory of a process without a call of the C library: by a ring of io_uring, which the
// process may have without a library for it, or by a device.
bool has_peers(const Kernel& kernel, int pid);

// The nodes that the process may have memory on; empty: not known.
std::string allowed_nodes(const Kernel& kernel, const std::string& process);

// Adds what can be seen now. `recorded`: the arrays that are live; null: none is known.
void look(const Kernel& kernel, const Recorded* recorded, Evidence& evidence);

// The threads of a process and the nodes that they may run on.
std::vector<Thread> threads_of(const Kernel& kernel, int pid, int except);

}  // namespace weft::tools::numa
