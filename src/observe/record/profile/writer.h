// SPDX-License-Identifier: Apache-2.0
// The profile as a file, for `weft report` to read (tools/weft/report/profile/profile.h).
#pragma once

#include <cstdio>

#include "observe/record/profile/recording.h"

namespace weft::observe {

// The recording has stopped. `title`: words that say what the report is of; null: the process's command line. False:
// see errno.
bool write(std::FILE* file, Recording& recording, const char* title);

}  // namespace weft::observe
