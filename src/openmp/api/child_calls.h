// SPDX-License-Identifier: Apache-2.0
// Processes that threads of this one make. They get the affinity mask that the user has given, not the one by which
// weft has bound the OS thread that happens to make them.
#pragma once

#include "platform/libc_calls.h"

namespace weft::openmp {

// Of functions that make processes without the handlers of a fork.
platform::LibcCalls child_calls() noexcept;

// Has the child of a fork() take that mask on.
void watch_forks() noexcept;

}  // namespace weft::openmp
