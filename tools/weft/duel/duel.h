// SPDX-License-Identifier: Apache-2.0
// `weft compare -- A... -- B...`: runs two programs in turn until it is clear which one is faster, or that neither is.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

struct DuelOptions {
  double seconds = 60;  // after which no new round begins
  std::string json;     // "-": to stdout
};

// The words behind the first "--": the two commands; empty: they are not two.
std::vector<std::vector<std::string>> commands_of_duel(const std::vector<std::string>& words);

int duel(const DuelOptions& options, const std::vector<std::vector<std::string>>& commands);

}  // namespace weft::tools
