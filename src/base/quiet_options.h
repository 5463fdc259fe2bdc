// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/options.h"

namespace weft::base {

// options(), for a library beside the runtime, which warns already about what cannot be used.
const Options& quiet_options() noexcept;

}  // namespace weft::base
