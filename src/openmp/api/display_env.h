// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::openmp {

// Prints the internal control variables on stderr in the form of OMP_DISPLAY_ENV (OpenMP 5.2, section 21.7).
// Verbose: weft's own too.
void display_env(bool verbose) noexcept;

}  // namespace weft::openmp
