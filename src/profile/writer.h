// SPDX-License-Identifier: Apache-2.0
// The profile as a file, for `weft report` to read (tools/weft/report/profile.h).
#pragma once

#include <cstdio>

#include "profile/sampler.h"

namespace weft::profile {

// The sampler has stopped. `unix_began`: when the process began, in seconds since 1970. False: see errno.
bool write(std::FILE* file, Sampler& sampler, double unix_began);

}  // namespace weft::profile
