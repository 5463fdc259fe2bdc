// SPDX-License-Identifier: Apache-2.0
// Who tells whom of a post to a large team: member 0 tells some, and those tell others. Groups of eight members each,
// groups of eight such groups, and so on; the first member of a group tells the first of each part. Neighbours by
// number mostly run on neighbouring CPUs, so that few posts go far.
//
// And who wakes whom of those that one member has told and that sleep: to wake one takes longer than to tell many. So
// who tells wakes a few, and leaves to each of these a part of the others (Wards).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::core {

struct PostTree {
  static constexpr int kFanOut = 8;
  // In a smaller team the owner tells all: its stores go out together, and a member in between takes as long again.
  static constexpr int kLeastMembers = 24;

  // What one member tells at most, in a team of 8^4.
  static constexpr int kMostTold = 4 * (kFanOut - 1);

  // The one that tells member `index`, which is not 0.
  static constexpr int teller_of(int index) {
    int width = 1;
    while (index % (width * kFanOut) == 0) width *= kFanOut;
    return index - index % (width * kFanOut);
  }

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

// Those whom a member has told, in the order in which they are woken.
class Told {
 public:
  // Of a post by a tree; and of one by the owner alone.
  static Told by_tree(int teller, int count) noexcept {
    Told told;
    PostTree::visit_told(teller, count, [&](int other) {
      told.add(other);
      // They come first.
      if (PostTree::tells(other, count)) told.tellers_ = told.size_;
    });
    return told;
  }
  static Told by_owner(int count) noexcept {
    Told told;
    for (int i = 1; i < count; ++i) told.add(i);
    return told;
  }

  int size() const noexcept { return size_; }
  int tellers() const noexcept { return tellers_; }
  int operator[](int at) const noexcept { return members_[static_cast<size_t>(at)]; }

 private:
  static constexpr int kMost =
      PostTree::kMostTold > PostTree::kLeastMembers ? PostTree::kMostTold : PostTree::kLeastMembers;

  void add(int member) noexcept { members_[static_cast<size_t>(size_++)] = static_cast<int16_t>(member); }

  std::array<int16_t, kMost> members_{};
  int size_ = 0;
  int tellers_ = 0;
};

// What a member that sleeps is to do first: to wake some of those that were told with it. One word with the flag that
// it sleeps, so it takes both away at once, and with the post that it has served last. Who tells of a post leaves
// nothing to a member that has served that already, and sleeps again: others would wait for it no more, and change what
// it looks at.
struct Wards {
  // So many one member wakes. While it wakes as many, the first comes and goes on with its own.
  static constexpr int kWakes = 4;
  // Where there are no more, it wakes all: the last would come no sooner by another.
  static constexpr int kMostByOne = 7;

  int begin = 0;  // in Told
  int end = 0;
  bool by_tree = false;

  // The word of a member that sleeps and has nothing to do. `served`: the last post, counted; its low bits stand there.
  static constexpr uint32_t asleep(uint64_t served) noexcept {
    return kAsleep | static_cast<uint32_t>(served) << kServedShift;
  }
  // Whether that may be the post. A word is old after some million posts: then it says so of another, which costs time.
  static constexpr bool has_served(uint32_t word, uint64_t post) noexcept {
    return word >> kServedShift == static_cast<uint32_t>(post) << kServedShift >> kServedShift;
  }

  bool any() const noexcept { return begin < end; }
  uint32_t word() const noexcept {
    return kAsleep | (by_tree ? kByTree : 0u) | static_cast<uint32_t>(begin) << kBeginShift |
           static_cast<uint32_t>(end) << kEndShift;
  }
  static Wards of(uint32_t word) noexcept {
    return {static_cast<int>(word >> kBeginShift & kPlaces), static_cast<int>(word >> kEndShift & kPlaces),
            (word & kByTree) != 0};
  }

  // Calls visit(part) for the parts that the one wakes who has these to wake. Who tells others has enough to do, and
  // comes late to it: it gets none of those that tell nobody.
  template <class Visit>
  void visit_parts(int tellers, Visit&& visit) const {
    if (end - begin <= kMostByOne) {
      divide(begin, end, end - begin, visit);
      return;
    }
    const int middle = tellers < begin ? begin : tellers < end ? tellers : end;
    const bool both = begin < middle && middle < end;
    const int first = both ? (middle - begin < kWakes - 1 ? middle - begin : kWakes - 1) : middle > begin ? kWakes : 0;
    divide(begin, middle, first, visit);
    divide(middle, end, kWakes - first, visit);
  }

 private:
  static constexpr uint32_t kAsleep = 1;
  static constexpr uint32_t kByTree = 2;
  static constexpr uint32_t kPlaces = 31;
  static constexpr int kBeginShift = 2;
  static constexpr int kEndShift = 7;
  static constexpr int kServedShift = 12;
  static_assert(PostTree::kMostTold <= static_cast<int>(kPlaces) &&
                PostTree::kLeastMembers <= static_cast<int>(kPlaces));

  template <class Visit>
  void divide(int from, int to, int parts, Visit&& visit) const {
    for (int k = 0; k < parts; ++k) {
      const Wards part{from + (to - from) * k / parts, from + (to - from) * (k + 1) / parts, by_tree};
      if (part.any()) visit(part);
    }
  }
};

}  // namespace weft::core
