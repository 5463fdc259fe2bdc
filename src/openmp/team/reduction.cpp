// SPDX-License-Identifier: Apache-2.0
#include "openmp/team/reduction.h"

#include "base/options.h"

namespace weft::openmp {

const bool g_reduces_in_order = base::options().reproducible == base::TriState::yes;

}  // namespace weft::openmp
