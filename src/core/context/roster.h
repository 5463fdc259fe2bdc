// SPDX-License-Identifier: Apache-2.0
// Which OS threads are carriers or donors. The floor above answers: core/sched/roster.cpp. Internal to core.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace weft::core {

// The identity (thread pointer) that the OS thread was born with, if it is a carrier or a donor; 0: it is neither. May
// be called by signal handlers.
uintptr_t own_identity(pid_t thread) noexcept;

}  // namespace weft::core
