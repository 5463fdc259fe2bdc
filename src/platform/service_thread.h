// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace weft::platform {

// The names of service threads begin so. A thread has the name of the one that has made it.
inline constexpr char kServicePrefix[] = "weft-";
void name_service_thread(const char* name) noexcept;
// For a thread that a service thread may have made, and that is none: takes the process's name.
void leave_service_name() noexcept;

// Starts a detached thread of the pool's own that handles no signals; false when the system refuses it.
bool start_service_thread(void* (*run)(void*), void* argument, size_t stack_size) noexcept;

}  // namespace weft::platform
