// SPDX-License-Identifier: Apache-2.0
// Completions for shells: the commands, their options, the values of these, and behind `weft run` the program with
// completions of its own.
#pragma once

#include <string>

#include "pages/command_model.h"

namespace weft::tools {

std::string bash_completion(const CommandModel& root);
std::string zsh_completion(const CommandModel& root);
std::string fish_completion(const CommandModel& root);

}  // namespace weft::tools
