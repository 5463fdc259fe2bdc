// SPDX-License-Identifier: Apache-2.0
// Programs that carry an OpenMP runtime or an MPI inside themselves: no linker asks for it, so nobody can answer with
// weft's.
#pragma once

#include <string>

namespace weft::tools {

// The archive that the dynamically linked 64-bit program at `path` was linked with, as in "libgomp.a"; empty: none.
std::string own_openmp(const std::string& path);

// Whether an MPI is inside.
bool has_own_mpi(const std::string& path);

}  // namespace weft::tools
