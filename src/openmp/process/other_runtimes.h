// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace weft::openmp {

// A line for each other OpenMP runtime that is mapped in the program's link namespace, into `text`; returns its length.
size_t list_other_runtimes(char* text, size_t room) noexcept;

}  // namespace weft::openmp
