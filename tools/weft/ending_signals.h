// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <signal.h>

namespace weft::tools {

// The signals at which a command that has no end of its own ends in order: those of SIGHUP, SIGINT and SIGTERM that it
// was not started to ignore, as nohup starts a command, and shells what runs in the background.
inline std::vector<int> ending_signals() {
  std::vector<int> signals;
  for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) signals.push_back(signal);
  }
  return signals;
}

}  // namespace weft::tools
