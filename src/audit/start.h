// SPDX-License-Identifier: Apache-2.0
// What the system gave the process when it started. It is found by the ends of the lists on the initial stack, which a
// program may change: so only before any of its code runs.
#pragma once

namespace weft::audit {

// Keeps what is asked for later.
void remember_start() noexcept;
long page_size() noexcept;

// As main's; both end with a null pointer.
char** arguments() noexcept;
char** environment() noexcept;

// A value of the auxiliary vector (getauxval(3)); 0: there is none.
unsigned long auxiliary(unsigned long type) noexcept;

}  // namespace weft::audit
