// SPDX-License-Identifier: Apache-2.0
// The barrier of a team. Explicit tasks pushed before it end before anybody leaves it.
#pragma once

namespace weft::openmp {

struct Member;

void barrier(Member* self) noexcept;

}  // namespace weft::openmp
