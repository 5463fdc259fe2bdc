// SPDX-License-Identifier: Apache-2.0
#include "threads/inspector.h"

#include "core/monitor/layout.h"
#include "openmp/record/layout.h"

namespace weft::tools {

bool Inspector::has_own_layout() const {
  return inspected_.magic == core::InspectionStart::kMagic &&
         inspected_.layout == (core::kCoreLayout ^ openmp::kOpenmpLayout);
}

}  // namespace weft::tools
