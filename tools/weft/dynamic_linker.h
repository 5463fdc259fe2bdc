// SPDX-License-Identifier: Apache-2.0
// What this system's dynamic linker can be trusted with.
#pragma once

#include <string>

namespace weft::tools {

// As "2.31".
std::string glibc_version();

// Whether it may be given an audit library (rtld-audit(7)). Before glibc 2.35 each call of a lazily bound function is
// bound anew under audit, room for thread-local data runs out, and what is bound at once is not seen.
bool linker_audits();

}  // namespace weft::tools
