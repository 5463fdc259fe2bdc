// SPDX-License-Identifier: Apache-2.0
// Whether a function, reduced to what is of interest, does anything that others can see.
#pragma once

#include <string>

#include "clone.h"

namespace weft::pass {

// What a sample does beyond its own slots, for people to read; empty: nothing. It is simplified on the way. `queries`:
// whether it may use what it is told of the thread and its team.
std::string visible_effect(Sample& sample, bool queries);

}  // namespace weft::pass
