// SPDX-License-Identifier: Apache-2.0
// SIGSEGV in a process whose pages are protected: the collector's handler is in force, and the program is told what its
// own calls have set. No thread may block the signal, since a fault would end the process then.
#pragma once

namespace weft::numa {

// Puts the handler in force.
void take_faults() noexcept;

// Whether it still is: a program may set another past the C library.
bool faults_are_ours() noexcept;

// Starts a thread of the collector's own, which handles no signals; false when the system refuses it.
bool start_silent_thread(void* (*run)(void*)) noexcept;

}  // namespace weft::numa
