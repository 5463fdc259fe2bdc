// SPDX-License-Identifier: Apache-2.0
// A file that is made shorter while it is mapped kills a process that touches the missing part (SIGBUS). Not here: the
// segment is replaced by empty memory of the process's own, and the process goes on alone.
#pragma once

#include <cstddef>

namespace weft::node {

// Watches over one mapping; a second call moves to another one. The program's handler is called for all other faults;
// one that it sets later replaces this one, and so does a thread that blocks the signal.
void guard(void* mapping, size_t size) noexcept;
void unguard(const void* mapping) noexcept;

// Whether the mapping that was guarded last has been replaced.
bool mapping_lost() noexcept;

}  // namespace weft::node
