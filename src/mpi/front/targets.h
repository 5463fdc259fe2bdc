// SPDX-License-Identifier: Apache-2.0
// The target of each stub (stubs.S): the function that the stub jumps to. The first call of any stub has them set.
#pragma once

namespace weft::mpi {

using Function = void (*)();

// The library that has the stubs defines these. For messages: the part of weft, and what the program goes on without.
extern const char kPart[];
extern const char kLeft[];
// Called once, before replacement_of(). False: the process has several MPIs, and no replacements.
bool begin() noexcept;
// What stands in the place of a function of MPI's; null: MPI's own does. All Fortran versions of a routine have the
// name of mpif.h, without an end.
Function replacement_of(const char* name) noexcept;

// Sets the targets, if no call has done it yet.
void set_targets() noexcept;

// The replacement of a function by the name that programs call it by; null: there is none.
Function replacement_for(const char* name) noexcept;

}  // namespace weft::mpi
