// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::numa {

// Finds the functions behind those of calls.cpp, before there are handlers of signals: dlsym() is not for these.
void look_up_calls() noexcept;

}  // namespace weft::numa
