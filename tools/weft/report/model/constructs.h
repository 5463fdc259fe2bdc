// SPDX-License-Identifier: Apache-2.0
// The constructs of a program's sources: a construct that is met in several others, or that the compiler has copied, is
// several sites.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "report/model/model.h"

namespace weft::tools::report {

// The same for all sites of a construct.
using PlaceKey = std::tuple<SiteKind, std::string, uint64_t, std::string>;
PlaceKey place_key(const Site& site);

// Adds counts, times and lengths; the rest stays.
void add(Site& sum, const Site& more);

// The report with one site for the sites of a construct that are in the same one around. Serial parts are around
// nothing: a region is the same whatever was run before it. Without the timeline.
Report with_constructs(const Report& report);

}  // namespace weft::tools::report
