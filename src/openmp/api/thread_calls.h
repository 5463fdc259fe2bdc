// SPDX-License-Identifier: Apache-2.0
// The functions of libc by which a thread says something of itself that the kernel keeps by OS thread (affinity,
// scheduling, niceness, name, timer slack, CPU time), and those that make processes. A member has no OS thread of its
// own: what it sets is its own and is told to it again, and never holds for others that run on the same OS thread. For
// threads of the program these are libc's functions.
#pragma once

#include "platform/libc_calls.h"

namespace weft::openmp {

platform::LibcCalls thread_calls() noexcept;

}  // namespace weft::openmp
