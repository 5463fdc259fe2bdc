// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace weft::platform {

// A small file of /proc or /sys as a string, cut to `room` - 1 characters; false when it cannot be read or is empty.
bool read_small_file(const char* path, char* text, size_t room) noexcept;

}  // namespace weft::platform
