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

// Looks whether an object that has just been mapped is another runtime than weft's, or has one inside.
void look_for_runtime(const link_map* object, Lmid_t space, const char* library) noexcept;
// When all objects that the program starts with are mapped: looks for a runtime that was linked into it, and tells of
// all that has been found. Before that the program may be started again.
void look_inside_program() noexcept;

// `object` is on weft though it needs `version` of a runtime, which weft does not have.
void tell_missing_version(const link_map* object, const char* version) noexcept;

// oneTBB has been given weft's library of permits.
void note_permits() noexcept;

// At the end of the process.
void tell_at_end() noexcept;

}  // namespace weft::audit
