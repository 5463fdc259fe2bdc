// SPDX-License-Identifier: Apache-2.0
#include "openmp/display_env.h"

namespace weft::openmp {

void display_env(bool) noexcept {}

}  // namespace weft::openmp
