// SPDX-License-Identifier: Apache-2.0
// Tells of the one kind of mutex that members cannot share: one with PTHREAD_PRIO_INHERIT. Its owner, to the kernel, is
// the OS thread that has locked it, or the donor whose number the identity has. A member that runs elsewhere when it
// unlocks is refused, the C library does not look at that, and the mutex stays locked for ever. Internal to core.
#pragma once

#include <cstdint>

namespace weft::core {

struct Pool;

class PiWatch {
 public:
  // For the monitor, now and then: warns, once, when the same such mutex is found in this state twice in a row. An
  // owner that is about to note that it has locked looks the same, for some instructions.
  void look(const Pool& p) noexcept;

 private:
  uintptr_t suspect_ = 0;
  uint32_t owner_ = 0;  // of the suspect, in the kernel's eyes
  bool warned_ = false;
};

}  // namespace weft::core
