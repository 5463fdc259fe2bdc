// SPDX-License-Identifier: Apache-2.0
// What an object asks for when it needs an OpenMP runtime, and what is changed of that before the dynamic linker looks
// for it.
#pragma once

#include <link.h>

namespace weft::audit {

// Whether an object asks for an OpenMP runtime: it opens regions, as a rule.
bool needs_runtime(const link_map* object) noexcept;
// Whether the program's own file asks for an OpenMP runtime. From the start on.
bool program_needs_runtime() noexcept;

// Has an object that has just been mapped ask by their names alone for the runtimes that it needs by a path. The
// dynamic linker looks for the versions that an object needs among the objects that are known by the very name that it
// has for them, and ends the program where there is none. What it is given for a path adds no name to weft's.
void shorten_needed(const link_map* object) noexcept;
// Has them ask by paths again, as far as that was changed: the program keeps its own runtimes. Until
// forget_shortened(), which is to be called before an object can be unmapped.
void lengthen_needed() noexcept;
void forget_shortened() noexcept;
// Whether `object` needs versions by that path all the same: its memory could not be changed.
bool needs_path(const link_map* object, const char* path) noexcept;

// A version of an OpenMP runtime that an object needs, and weft's does not have.
struct MissingVersion {
  const char* version = nullptr;  // null: there is none
  const char* runtime = nullptr;  // of which the object needs it
};
MissingVersion find_missing_version(const link_map* object, const char* library) noexcept;
// Has the dynamic linker go on without such versions, for which it would end the program, or refuse the object: what
// the object calls of them is not found, the rest is.
void excuse_missing_versions(const link_map* object, const char* library) noexcept;

}  // namespace weft::audit
