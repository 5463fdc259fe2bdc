// SPDX-License-Identifier: Apache-2.0
// Signals that `weft top` sends, by their names.
#pragma once

#include <cstdint>
#include <string>

namespace weft::tools {

// "TERM", "sigterm" or "15"; 0: there is no such signal.
int signal_named(const std::string& text);
// "SIGTERM"; "signal 40" of one without a name here.
std::string name_of_signal(int signal);

// To the process with this number that was started then, and to none that has got its number since. Empty: it is sent;
// otherwise why not.
std::string send_signal(int pid, uint64_t start, int signal);

}  // namespace weft::tools
