// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "pages/command_model.h"

namespace weft::tools {

// The manual page of `command`, in the macros of man(7). `root` is the command that all belong to: its page has the
// environment, and the others refer to it.
std::string man_page(const CommandModel& command, const CommandModel& root);

}  // namespace weft::tools
