// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::coll {

// The NUMA node on which all CPUs of the caller are; -1: on several, or there is one alone.
int own_node() noexcept;

}  // namespace weft::coll
