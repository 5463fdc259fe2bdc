// SPDX-License-Identifier: Apache-2.0
// Forks: what others hold is gone in the child. And a copy that still has threads of its own ends them, and takes the
// buffers away that running jobs use; so there a fork waits until none runs, and those that begin meanwhile wait for
// it.
#pragma once

namespace weft::interpose {

// To be called when a copy is added: of the handlers before a fork the newest runs first, and ours has to run before
// the copy's.
void handle_forks() noexcept;

// Around the jobs of a call of such a copy.
void begin_call() noexcept;
void end_call() noexcept;

}  // namespace weft::interpose
