// SPDX-License-Identifier: Apache-2.0
// `weft threads PROCESS | CORE`: what each thread of a process on weft does, what it waits for, and which of them never
// go on.
#pragma once

#include <string>

namespace weft::tools {

struct ThreadsOptions {
  int process = 0;  // 0: a core file
  std::string core;
  std::string json;  // "-": to stdout
  bool stacks = false;  // whole stacks
};

int show_threads(const ThreadsOptions& options);

}  // namespace weft::tools
