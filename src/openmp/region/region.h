// SPDX-License-Identifier: Apache-2.0
// Parallel regions: fork and join (OpenMP 5.2, section 10.1).
#pragma once

#include "core/api/records.h"
#include "openmp/record/team.h"

namespace weft::openmp {

// The clauses of a parallel construct. 0 threads, and the policy false: there is no such clause.
struct Clauses {
  int threads = 0;
  base::ProcBind bind = base::ProcBind::false_;
  int most = 0;  // members that have something to do, where dyn-var lets the region have fewer; 0: not known
};

// WEFT_REGION_THREADS: the most members of a region. Set once, while the library is loaded.
inline int g_region_threads = core::kMaxPersistentMembers;

// Runs invoke(words, number) as members 0 .. n-1 of a new team and waits for all. n follows from the clauses by the
// rules of section 10.1.1, unless the code at `caller` is that of a library which counts on a number of its own
// (library/nested_blas.h); null: it is not. `words` has core::Post::kWords elements, of which the first and the last
// are the runtime's.
void parallel(Invoke invoke, void** words, Clauses clauses, const void* caller = nullptr) noexcept;

// The same where members without anything to do may be left out. `prepare` is called before the members begin, unless
// the team has one member only: it returns how many of the team's are to take part, at least one. Those that nobody has
// begun when the primary's part is over are left out too. No member may meet a barrier.
using Prepare = int (*)(Team* team, void* const* words);
void parallel_of_some(Invoke invoke, void** words, Clauses clauses, Prepare prepare) noexcept;

// From the primary's part of such a region, when prepare() has left out all others: members 1 .. members-1 begin after
// all. Once.
void begin_others(void* const* words, int members) noexcept;

// How many members a region of this task would have now.
int planned_team_size(Member* self, int requested) noexcept;

// A region in two halves, for ABIs where the primary's body stands between two calls. The primary is member 0 on return
// from the first.
void begin_parallel(Invoke invoke, void** words, Clauses clauses) noexcept;
void end_parallel() noexcept;

// A region of one member, ended by end_parallel().
void begin_serial() noexcept;

// The calling identity is the pool's and ends: its records go to others.
void end_identity() noexcept;

}  // namespace weft::openmp
