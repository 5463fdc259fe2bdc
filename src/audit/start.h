// SPDX-License-Identifier: Apache-2.0
// What the system gave the process when it started.
#pragma once

namespace weft::audit {

// As main's; both end with a null pointer.
char** arguments() noexcept;
char** environment() noexcept;

// A value of the auxiliary vector (getauxval(3)); 0: there is none.
unsigned long auxiliary(unsigned long type) noexcept;

}  // namespace weft::audit
