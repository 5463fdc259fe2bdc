// SPDX-License-Identifier: Apache-2.0
// Guards a process against a segment that is cut short. A process that touches a mapped part of a file that the file
// does not have any more gets SIGBUS, which kills it. The handler here puts empty private memory in the segment's
// place, and the process goes on alone.
#pragma once

#include <cstddef>

namespace weft::node {

// Guards one mapping; a second call moves the guard to another one. For all other faults the handler that the program
// had is called. A handler that the program sets later ends the guard, and a thread that blocks the signal has none.
void guard(void* mapping, size_t size) noexcept;
void unguard(const void* mapping) noexcept;

// Whether the mapping that was guarded last has been replaced.
bool mapping_lost() noexcept;

}  // namespace weft::node
