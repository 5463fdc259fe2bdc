// SPDX-License-Identifier: Apache-2.0
// Reductions that tasks take part in and that the program combines in the end, as programs by gcc do (for the runtime's
// own way see task_reduction.h). The program describes its variables in blocks of words. The runtime notes there where
// the copies are: for each member of the team, the copies of all variables of a block lie side by side.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::openmp {

struct Member;
struct TaskGroup;

using Words = uintptr_t;

// Makes the copies of `data` for `members` members; or shares those of `shared`, another member's data for the same
// construct. `before`: the blocks that are registered already where `data` will be, or null.
void register_reductions(Words* data, Words* before, const Words* shared, int members) noexcept;

// Has the tasks of a group that is no construct of the program take part in the reductions of `data`.
void make_reducing(TaskGroup* group, Words* data) noexcept;

// The group of a region whose implicit tasks take part. Nobody waits for it. It is given back by put_group()
// (record_cache.h) when the region has ended.
TaskGroup* make_region_group(Words* data) noexcept;

// Registers `data` for the taskgroup that the caller is in.
void add_reduction_blocks(Member* self, Words* data) noexcept;

// Frees the copies of one registration.
void free_reductions(Words* data) noexcept;

// Replaces each address, of an original or of some member's copy, by that of the calling member's copy; behind the
// `count` addresses go those of the first `originals` originals.
void find_copies(Member* self, size_t count, size_t originals, void** addresses) noexcept;

}  // namespace weft::openmp
