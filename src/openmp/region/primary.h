// SPDX-License-Identifier: Apache-2.0
// What the kinds of regions have in common. Each kind is a class with three functions, by the thread that has met the
// region:
//
//   begin(opening)  makes the team; the others begin, and the caller becomes member 0, the primary
//   run(opening)    the primary's part
//   end()           waits for the others; the caller is again what it was before
//
// An object says who the primary is, and no more. So a region that ends in another call of the program than it began in
// goes on as an object made of the primary's record. Internal to openmp/region.
#pragma once

#include "openmp/region/opening.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

class Primary {
 public:
  // Inlined: to a tool the frames of the program's code begin at the caller's.
  [[gnu::always_inline]] void run(const Opening& opening) noexcept {
    tool::begin_member(primary_);
    opening.invoke(opening.words, 0);
  }

  Member* primary() const noexcept { return primary_; }

 protected:
  // Null: the region has not begun.
  explicit Primary(Member* primary) noexcept : primary_(primary) {}

  Member* primary_;
};

}  // namespace weft::openmp
