// SPDX-License-Identifier: Apache-2.0
// Processes that threads of this one make. They get the affinity mask that the user has given, not the one by which
// weft has bound the OS thread that happens to make them.
#pragma once

namespace weft::openmp {

// From now on calls of functions that make processes without the handlers of a fork come here first; by a constructor
// of the runtime.
void take_child_calls() noexcept;

// Has the child of a fork() take that mask on.
void watch_forks() noexcept;

}  // namespace weft::openmp
