// SPDX-License-Identifier: Apache-2.0
// GOMP: reductions that tasks take part in. The program describes its variables in blocks of words; each member of the
// team has copies of all of them, and the program combines them in the end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmp/gomp/gomp.h"

namespace weft::openmp::gomp {

using Words = uintptr_t;

// Makes the copies of `data` for `members`, or shares those of `shared`, the same construct's data of another member.
// `before`: what is registered at the same place already.
void register_reductions(Words* data, Words* before, const Words* shared, int members) noexcept;

// Frees the copies of one registration.
void free_reductions(Words* data) noexcept;

// Replaces each address, of an original or of some member's copy, by that of the calling member's copy; behind the
// `count` addresses go those of the first `originals` originals.
void find_copies(const Member* member, size_t count, size_t originals, void** addresses) noexcept;

// What some worksharing constructs bring beside their iterations: reductions of tasks, and `*memory` bytes, zeroed, for
// all members, of which *memory becomes the address. Either may be null. Ended by end_extras().
void begin_extras(Member* member, Words* reductions, void** memory) noexcept;
void end_extras(Member* member) noexcept;

}  // namespace weft::openmp::gomp
