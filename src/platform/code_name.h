// SPDX-License-Identifier: Apache-2.0
// Names for addresses in the program.
#pragma once

#include <cstddef>

namespace weft::platform {

// "function+0x1f (file)", or as much of it as is known. Reads the file: some milliseconds for a large one.
void name_code(const void* address, char* text, size_t room) noexcept;

}  // namespace weft::platform
