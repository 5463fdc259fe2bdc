// SPDX-License-Identifier: Apache-2.0
// Who tells whom of a post to a large team: member 0 tells some, and those tell others. Groups of eight members each,
// groups of eight such groups, and so on; the first member of a group tells the first of each part. Neighbours by
// number mostly run on neighbouring CPUs, so that few posts go far.
#pragma once

namespace weft::core {

struct PostTree {
  static constexpr int kFanOut = 8;
  // In a smaller team the owner tells all: its stores go out together, and a member in between takes as long again.
  static constexpr int kLeastMembers = 24;

  static constexpr bool tells(int index, int count) { return index % kFanOut == 0 && index + 1 < count; }

  // Calls visit(other) for each member below `count` that `index` tells, those who tell most others first.
  template <class Visit>
  static void visit_told(int index, int count, Visit&& visit) {
    int width = 1;
    while (width * kFanOut < count && index % (width * kFanOut) == 0) width *= kFanOut;
    for (; width > 0; width /= kFanOut) {
      if (index % (width * kFanOut) != 0) continue;
      for (int part = 1; part < kFanOut && index + part * width < count; ++part) visit(index + part * width);
    }
  }
};

}  // namespace weft::core
