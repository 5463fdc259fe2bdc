// SPDX-License-Identifier: Apache-2.0
// Which OpenMP runtimes the process has: weft's, and those that came on ways on which nobody is asked. One line tells
// of each of these, and where statistics are wanted, they say so again at the end.
#pragma once

#include <link.h>

namespace weft::audit {

// Keeps what the user wants to see: later the program may have written over its environment.
void remember_wishes() noexcept;

// Whether weft's runtime, `library`, is mapped in the link namespace of `object`. Under the dynamic linker's lock.
bool is_on_weft(const link_map* object, const char* library) noexcept;

// Has an object that has just been mapped ask by their names alone for the runtimes that it needs by a path. The
// dynamic linker looks for the versions that an object needs among the objects that are known by the very name that it
// has for them, and ends the program where there is none. What it is given for a path adds no name to weft's.
void shorten_needed(const link_map* object) noexcept;
// Whether `object` needs versions by that path all the same: its memory could not be changed.
bool needs_path(const link_map* object, const char* path) noexcept;

// Looks whether an object that has just been mapped is another runtime than weft's, or has one inside.
void look_for_runtime(const link_map* object, Lmid_t space, const char* library) noexcept;
// When all objects that the program starts with are mapped: looks for a runtime that was linked into it, and tells of
// all that has been found. Before that the program may be started again.
void look_inside_program() noexcept;

// oneTBB has been given weft's library of permits.
void note_permits() noexcept;

// At the end of the process.
void tell_at_end() noexcept;

}  // namespace weft::audit
