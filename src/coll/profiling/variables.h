// SPDX-License-Identifier: Apache-2.0
// MPI's control variables (MPI 3, section 14.3).
#pragma once

namespace weft::coll {

// Reads a variable of `most` elements at most into `value`, of which a text is one more. False: this MPI has no such
// variable, or it is longer.
bool read_variable(const char* name, void* value, int most) noexcept;

}  // namespace weft::coll
