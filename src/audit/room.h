// SPDX-License-Identifier: Apache-2.0
// Room for the thread-local data of the libraries that a program is linked with or that are preloaded. A dynamic linker
// that has libraries audited sets it up before it knows them, of a size that GLIBC_TUNABLES says
// (platform/static_tls.h). A program that needs more is started again with more, before any of its code has run. It
// finds its environment as it was: what it starts is asked anew how much it needs.
#pragma once

#include <cstddef>

#include <link.h>

namespace weft::audit {

// For each object of the program as it is mapped. Does not come back when the program is started again.
void make_room(const link_map* object) noexcept;

// All that the program starts with is mapped.
void end_start() noexcept;

// A file that is executed as this program was; null: there is none that is known to be this program. It may stand in
// `path`, which has `room`.
const char* program_file(char* path, size_t room) noexcept;

}  // namespace weft::audit
