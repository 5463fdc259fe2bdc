// SPDX-License-Identifier: Apache-2.0
// The two ways to read what addresses mean, of a copy of /proc/PID/maps.
#pragma once

#include <memory>
#include <string>

#include "symbols/symbols.h"

namespace weft::tools {

// Null: the system has no library for it.
std::unique_ptr<Symbols> read_source_lines(const std::string& maps_file);

std::unique_ptr<Symbols> read_function_names(const std::string& maps_file);

}  // namespace weft::tools
