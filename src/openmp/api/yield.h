// SPDX-License-Identifier: Apache-2.0
// sched_yield called by members: loops that wait for each other with it (MKL's, for one) must let the members run that
// they wait for, which may be contexts of this very carrier. The audit library brings the calls here.
#pragma once

namespace weft::openmp {

// For the code at `caller`, whose yield the core is told of: lets other work of the pool run, if the calling thread is
// a member of a team of several and the code is of an object that opens OpenMP regions itself. False: nothing has run.
// Others may call it while they hold locks of theirs, or in the middle of the pool itself.
bool yield_for(const void* caller) noexcept;

// From now on the audit library finds yield_for().
void offer_yield() noexcept;

}  // namespace weft::openmp
