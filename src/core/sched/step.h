// SPDX-License-Identifier: Apache-2.0
// What a carrier runs next. Internal to core.
#pragma once

#include "core/sched/pool.h"

namespace weft::core {

// Runs whatever there is, and waits where there is nothing. Returns in the thread of a worker that is to end, under its
// own identity.
void run_for_ever() noexcept;

// A hint: run_for_ever() is likely to find something.
bool work_in_sight(Carrier* carrier) noexcept;

// Whether a carrier may take `context` out of another one's list: one that is bound had better wait for the carrier
// that has its CPUs, unless that does not come.
bool may_take(const Carrier* carrier, const Carrier* victim, const Context* context) noexcept;

// Whether `carrier` may begin what has been left to `victim`: that has an identity for it, which others would have to
// make. So they do only where it does not come.
bool may_begin(const Carrier* carrier, const Carrier* victim) noexcept;

// Visits the carriers that may have work for `carrier`, other than itself, until `visit` says true: roots do their own
// work only, so they have none for each other.
template <class Visit>
bool visit_others(const Pool& p, const Carrier* carrier, Visit&& visit) noexcept {
  if (carrier->is_root()) {
    const int count = p.worker_count.load(std::memory_order_acquire);
    for (int i = 0; i < count; ++i) {
      if (visit(p.worker(i))) return true;
    }
    return false;
  }
  const int count = p.carrier_count.load(std::memory_order_acquire);
  for (int i = 1; i < count; ++i) {
    const int index = carrier->index + i;
    if (visit(p.carrier(index < count ? index : index - count))) return true;
  }
  return false;
}

}  // namespace weft::core
