// SPDX-License-Identifier: Apache-2.0
#include "coll/coll.h"
#include "coll/group/group.h"

namespace weft::coll {

Facts facts(const Group& group) noexcept { return group.facts(); }

}  // namespace weft::coll
