// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::numa {

// Finds the functions behind those of buffers.def.
void look_up_calls() noexcept;

}  // namespace weft::numa
