// SPDX-License-Identifier: Apache-2.0
// The right to tell a library more than 1 (openmp/library/nested_blas.h). The library keeps the number in one global,
// and has one set of buffers for which a second region would spin; so there is one right (as many as
// WEFT_NESTED_REGIONS).
//
// A right is
//   free       until someone takes it;
//   answering  while its holder makes up the answer;
//   promised   from the answer on: its holder is about to open a region. It may open none and never ask again; so a
//              promise that is kStaleNs old is as good as free, once its holder is past the answer: it has had the CPU
//              time to do what the library does with it, or sleeps;
//   in use     while the region runs.
// Nobody takes away a right that is answering or in use. Nobody is told when a promise grows stale. So a thread that
// wants a right looks at it time and again (openmp/library/call_turns.h).
//
// A library that is told less than the last time frees buffers, be they in use or not. Its call may open several
// regions after one answer, all but the first without a right. So
//   a smaller number is told only while no region runs, and until its holder is past the answer, none begins.
// A thread counts its region and then looks at the rights; one that answers marks its right and then looks at the
// count.
#pragma once

#include "openmp/record/team.h"

namespace weft::openmp {

// Free or stale: the caller's, answering. False: there is none.
bool take_right() noexcept;

// Promised: answering, unless somebody else has taken it meanwhile. False: the caller has no right.
bool keep_right() noexcept;

// Promised: in use, unless somebody else has taken it meanwhile.
void use_right() noexcept;

// Of a right that is answering: whether the number may be changed to a smaller one now.
bool may_change_number() noexcept;

// What an answer does to the library's number.
enum class Change { none, larger, smaller };

// Answering: promised.
void promise_right(Change change) noexcept;

// The caller's, if it still is: free.
void give_back_right() noexcept;

// Whether take_right() would have found one, where there is but one.
bool right_is_free() noexcept;

// Whether the caller has promised to open a region.
bool has_promised() noexcept;

// A right in use is the region's, not the OS thread's, which runs others while the primary waits: their questions are
// their own. Null: the region has none.
struct Right;
Right* hand_over_right() noexcept;
void take_back_right(Right* right) noexcept;

// Around each region of a library, with a right or without. The first waits until numbers that are being changed have
// been.
void begin_library_region() noexcept;
void end_library_region() noexcept;

// What the holder may use of a limit of threads, from the answer until the region begins. A thread that takes the
// right from a holder that opened none takes that too, so it is with the right, and changes hands as that does. Of a
// right that is answering.
ThreadGrant* reserved_threads() noexcept;

// The same, for the caller to keep; nothing, where it has no right.
ThreadGrant take_reserved_threads() noexcept;

// Before a fork: threads that have just given a right back get out of the library, which takes them a moment.
void await_leavers() noexcept;

// In the child of a fork: what other threads held is free.
void forget_rights() noexcept;

// Whether the process is the child of a fork during which another thread had a right, or had had one right before. It
// may have been inside of the library, whose tables then say for ever that they are in use: it had better make no
// regions.
bool library_is_stuck() noexcept;

}  // namespace weft::openmp
