// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "numa/record/layout.h"

namespace weft::numa {

// Writes into `array` on which nodes its pages lie.
void look_at(Array& array) noexcept;

}  // namespace weft::numa
