// SPDX-License-Identifier: Apache-2.0
// A thread that binds itself to CPUs of the program's choice, whatever its place is.
#pragma once

#include "platform/cpu_set.h"

namespace weft::openmp {

// Binds the caller to those of `cpus` that the process may use. False: there are none, or there is no memory.
bool bind_caller(const platform::CpuSet& cpus) noexcept;

// The caller may run wherever the process may.
void unbind_caller() noexcept;

}  // namespace weft::openmp
