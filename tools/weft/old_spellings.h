// SPDX-License-Identifier: Apache-2.0
// Command lines of earlier versions, which scripts may have: what they are spelled like now.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

// `words` are those behind `weft`.
// - `--json` without FILE, of commands where it was a flag: `--json=-`
// - `tune report`: `tune check`
// - `tune ... --mpi NAME`: `--for NAME`, since `--mpi` is a flag elsewhere
std::vector<std::string> as_spelled_now(std::vector<std::string> words);

}  // namespace weft::tools
