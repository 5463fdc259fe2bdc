// SPDX-License-Identifier: Apache-2.0
// What has to be otherwise where valgrind runs the program.
#pragma once

#include <link.h>

namespace weft::audit {

// For each object of the program as it is mapped, before its code runs.
void look_for_freeres(const link_map* object) noexcept;

}  // namespace weft::audit
