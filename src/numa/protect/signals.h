// SPDX-License-Identifier: Apache-2.0
// SIGSEGV in a process whose pages are protected: the collector's handler is in force, and the program is told what its
// own calls have set. No thread may block the signal, since a fault would end the process then.
#pragma once

namespace weft::numa {

// Puts the handler in force.
void take_faults() noexcept;

// Whether it still is: a program may set another past the C library.
bool faults_are_ours() noexcept;

// The program's own handler is in force from now on, and no page is protected any more.
void give_faults_back() noexcept;

// Handlers that ask for a stack of their own get it from now on: the program has made one.
void put_handlers_on_stacks() noexcept;

}  // namespace weft::numa
