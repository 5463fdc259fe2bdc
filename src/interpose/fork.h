// SPDX-License-Identifier: Apache-2.0
// Forks. In the child the locks and numbers that other threads had are free. A copy that still has threads of its own
// ends them at a fork, and takes away the buffers that running jobs use. So a fork waits until no call of such a copy
// runs, and calls that begin meanwhile wait for the fork.
#pragma once

namespace weft::interpose {

// To be called when a copy is added: of the handlers before a fork the newest runs first, and ours has to run before
// the copy's.
void handle_forks() noexcept;

// The two bracket the jobs of a call of such a copy.
void begin_call() noexcept;
void end_call() noexcept;

}  // namespace weft::interpose
