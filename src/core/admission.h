// SPDX-License-Identifier: Apache-2.0
// Admission: where not every root may be in a parallel region at the same time (WEFT_MODE exclusive and counting),
// those that may not wait here, in the order in which they came. Their OS threads sleep, and hold no slot.
#pragma once

#include <cstdint>

namespace weft::core {

struct Carrier;

enum class Admission : uint8_t {
  all,      // nobody waits
  one,      // one region at a time
  fitting,  // as many as have, together, no more calls than there are slots
};

// Chosen once, when the pool starts.
void set_admission(Admission admission) noexcept;

// Brackets a root's outermost region of `calls` calls; the first waits until the region may begin.
void admit(Carrier* root, int calls) noexcept;
void dismiss(Carrier* root) noexcept;

// In the child of a fork: nobody is inside, nobody waits.
void forget_admissions() noexcept;

// Whether admit() has to be called. Written before the first region of a pool.
extern bool g_admission_limited;

}  // namespace weft::core
