// SPDX-License-Identifier: Apache-2.0
// Which OS threads have identities of the pool's. The floor above knows: core/sched/roster.cpp. Internal to core.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace weft::core {

// The identity (thread pointer) that the OS thread was born with, if it is a carrier or a donor; 0: it is neither. Also
// in handlers of signals.
uintptr_t own_identity(pid_t thread) noexcept;

}  // namespace weft::core
