// SPDX-License-Identifier: Apache-2.0
// Tools that stand between the program and MPI: they have an MPI_X of their own, which ends in a call of PMPI_X.
#pragma once

namespace weft::mpi {

using Function = void (*)();

// Whether a tool has been loaded before this library, and so is called before it.
bool has_tool() noexcept;

// What those tools call by the name PMPI_X goes to `replacement_of("MPI_X")` from now on, where that is not null. Tools
// that were loaded behind this library are not called; it is said of the first.
void put_behind_tools(Function (*replacement_of)(const char* name, const void* data), const void* data) noexcept;

}  // namespace weft::mpi
