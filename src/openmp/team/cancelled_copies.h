// SPDX-License-Identifier: Apache-2.0
// copyprivate in a cancelled region (OpenMP 5.2, section 5.7.2). The region has no barriers any more, but members that
// have not come to the point of cancellation go on, and need the values. Those that meet here are the members that have
// not left the region:
//
//  - The member that executes the single region publishes its values, and stays until each of the others has copied
//    them or has left: they lie on its stack.
//  - The others wait until the values of their construct are published, copy, and wait until all have done so: the next
//    ones take their place.
//
// Nobody waits for ever. All members meet the same single regions in the same order, and the member that executes one
// comes to its end. So the member that is furthest behind waits for nobody.
//
// Each side stores, fences and wakes the others; a member that waits announces itself, fences and looks once more.
#pragma once

namespace weft::openmp {

struct Member;

// The member has seen that its region is cancelled, and leaves it. To say so again is harmless.
void leave_cancelled(Member* self) noexcept;

// In a cancelled region of several members: the values of the single region that the caller has met last. `offered`:
// the caller's own, which has executed it; null: another member has. Once for each end_copies().
void* begin_copies(Member* self, void* offered) noexcept;

// The caller has copied.
void end_copies(Member* self) noexcept;

}  // namespace weft::openmp
