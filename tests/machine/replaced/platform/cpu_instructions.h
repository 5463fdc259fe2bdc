// SPDX-License-Identifier: Apache-2.0
// In the place of src/platform/cpu_instructions.h: instructions of the machine of tests/machine.
#pragma once

#include <cstdint>

extern "C" {
void weft_machine_pause();
int64_t weft_machine_ticks();
}

namespace weft::platform {

inline void pause() noexcept { weft_machine_pause(); }
inline int64_t ticks() noexcept { return weft_machine_ticks(); }
inline int64_t ticks_of_20_us() noexcept { return 20'000; }

}  // namespace weft::platform
