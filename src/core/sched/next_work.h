// SPDX-License-Identifier: Apache-2.0
// The loop that free contexts run. Internal to core.
#pragma once

namespace weft::core {

// Does whatever there is to do, and waits where there is nothing. Returns in the thread of a worker that is to end,
// under its own identity.
void run_for_ever() noexcept;

}  // namespace weft::core
