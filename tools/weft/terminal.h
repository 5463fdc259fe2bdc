// SPDX-License-Identifier: Apache-2.0
// What there is to know of a terminal before one writes to it.
#pragma once

namespace weft::tools {

// Columns of what the descriptor is connected to; 100 where it is no terminal.
int columns_of(int descriptor);
// Its lines; 24 where it is no terminal.
int lines_of(int descriptor);

// Whether colours are wanted there (https://no-color.org).
bool has_colour(int descriptor);

}  // namespace weft::tools
