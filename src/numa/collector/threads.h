// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::numa {

// For this thread and all that are made later.
void start_handler_stacks() noexcept;

// For this thread, if it has none.
void take_handler_stack() noexcept;

}  // namespace weft::numa
