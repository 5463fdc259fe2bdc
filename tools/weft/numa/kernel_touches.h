// SPDX-License-Identifier: Apache-2.0
// What follows from the accesses that the kernel tells of: page faults that happen in any case say who touches a page
// first and, where the kernel balances NUMA nodes automatically, who uses it later; memory samples say who uses it.
#pragma once

#include <string>
#include <vector>

#include "numa/evidence.h"

namespace weft::tools::numa {

// Those of the process become touches of its arrays.
void add_touches(const std::vector<KernelTouch>& touches, const platform::NumaNodes& nodes, Evidence& evidence);

// What is left is who touched first.
void forget_later_touches(Evidence& evidence);

// Why the kernel does not tell, for people: what forbids it, and the way out. `hardware`: of samples that the CPU
// takes.
std::string why_no_events(const Kernel& kernel, int error, bool hardware);

}  // namespace weft::tools::numa
