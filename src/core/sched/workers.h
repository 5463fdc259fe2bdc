// SPDX-License-Identifier: Apache-2.0
// The pool's workers. Internal to core.
#pragma once

namespace weft::core {

// Makes workers until there are `count`, as far as the system lets it.
void grow_workers(int count) noexcept;

}  // namespace weft::core
