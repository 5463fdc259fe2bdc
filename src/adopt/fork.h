// SPDX-License-Identifier: Apache-2.0
// The library's handler of fork takes the buffers away that running jobs use. So a fork waits until none runs, and
// those that begin meanwhile wait for the fork.
#pragma once

namespace weft::adopt {

// To be called when a copy is added: of the handlers before a fork the newest runs first, and ours has to run before
// the copy's.
void wait_at_fork() noexcept;

// Around the jobs of a call.
void begin_call() noexcept;
void end_call() noexcept;

}  // namespace weft::adopt
