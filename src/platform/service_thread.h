// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace weft::platform {

// Starts a detached thread of the pool's own that handles no signals; false when the system refuses it.
bool start_service_thread(void* (*run)(void*), void* argument, size_t stack_size) noexcept;

}  // namespace weft::platform
