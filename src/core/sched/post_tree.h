// SPDX-License-Identifier: Apache-2.0
// How a post reaches the members of a large team, and who wakes those that sleep.
//
// PostTree: member 0 sends the post to some members, and some of those send it on to others. Members form groups of
// eight, groups of eight such groups, and so on; the first member of a group sends to the first of each part.
// Neighbours by number mostly run on neighbouring CPUs, so that few posts go far.
//
// WakeShare: to wake one member takes longer than to send a post to many. So a sender wakes only a few of its
// recipients that sleep, and leaves to each of them a share of the others to wake.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::core {

struct PostTree {
  static constexpr int kFanOut = 8;
  // In a smaller team the owner sends to all: its stores go out together, and a member in between takes as long again.
  static constexpr int kLeastMembers = 24;

  // To so many one member sends at most, in a team of 8^4.
  static constexpr int kMostRecipients = 4 * (kFanOut - 1);

  // The member that sends to member `index`, which is not 0.
  static constexpr int sender_of(int index) {
    int width = 1;
    while (index % (width * kFanOut) == 0) width *= kFanOut;
    return index - index % (width * kFanOut);
  }

  // Whether member `index` of `count` sends the post on to others.
  static constexpr bool relays(int index, int count) { return index % kFanOut == 0 && index + 1 < count; }

  // Calls visit(other) for each member below `count` that `index` sends to; those that send to most others come first.
  template <class Visit>
  static void visit_recipients(int index, int count, Visit&& visit) {
    int width = 1;
    while (width * kFanOut < count && index % (width * kFanOut) == 0) width *= kFanOut;
    for (; width > 0; width /= kFanOut) {
      if (index % (width * kFanOut) != 0) continue;
      for (int part = 1; part < kFanOut && index + part * width < count; ++part) visit(index + part * width);
    }
  }
};

// The members that one member has sent a post to, in the order in which they are woken.
class Recipients {
 public:
  // The recipients of `sender`, where the post goes by the tree; and those of the owner, where it sends to all.
  static Recipients by_tree(int sender, int count) noexcept {
    Recipients recipients;
    PostTree::visit_recipients(sender, count, [&](int other) {
      recipients.add(other);
      // Members that relay come first.
      if (PostTree::relays(other, count)) recipients.relays_ = recipients.size_;
    });
    return recipients;
  }
  static Recipients by_owner(int count) noexcept {
    Recipients recipients;
    for (int i = 1; i < count; ++i) recipients.add(i);
    return recipients;
  }

  int size() const noexcept { return size_; }
  int relays() const noexcept { return relays_; }
  int operator[](int at) const noexcept { return members_[static_cast<size_t>(at)]; }

 private:
  static constexpr int kMost =
      PostTree::kMostRecipients > PostTree::kLeastMembers ? PostTree::kMostRecipients : PostTree::kLeastMembers;

  void add(int member) noexcept { members_[static_cast<size_t>(size_++)] = static_cast<int16_t>(member); }

  std::array<int16_t, kMost> members_{};
  int size_ = 0;
  int relays_ = 0;
};

// A range of recipients, which a member that sleeps is to wake before it does anything else.
//
// The share stands in one word (PersistentMember::asleep) with the flag that the member sleeps, so the member takes
// both away by one exchange. While the member has no share, the word holds the number of the post that it has served
// last. A sender leaves no share to a member that has served the post already and sleeps again: the team does not wait
// for that member any more, and may change the list of recipients while the member reads it.
struct WakeShare {
  // One member wakes so many. In the time that it takes, the first of them comes up and begins with its own share.
  static constexpr int kWakes = 4;
  // Where no more than these are left, one member wakes them all: the last would come no sooner by another one.
  static constexpr int kMostByOne = 7;

  int begin = 0;  // the range, by places in Recipients
  int end = 0;
  bool by_tree = false;

  // The word of a member that sleeps and has no share. `served`: the number of the last post that it has served; the
  // word holds its low bits.
  static constexpr uint32_t asleep(uint64_t served) noexcept {
    return kAsleep | static_cast<uint32_t>(served) << kServedShift;
  }
  // Whether the word's low bits are those of `post`. After some million posts they may be those of an older one: then
  // the member gets no share, which costs time only.
  static constexpr bool has_served(uint32_t word, uint64_t post) noexcept {
    return word >> kServedShift == static_cast<uint32_t>(post) << kServedShift >> kServedShift;
  }

  bool any() const noexcept { return begin < end; }
  uint32_t word() const noexcept {
    return kAsleep | (by_tree ? kByTree : 0u) | static_cast<uint32_t>(begin) << kBeginShift |
           static_cast<uint32_t>(end) << kEndShift;
  }
  static WakeShare of(uint32_t word) noexcept {
    return {static_cast<int>(word >> kBeginShift & kPlaces), static_cast<int>(word >> kEndShift & kPlaces),
            (word & kByTree) != 0};
  }

  // Calls visit(part) for each part of the share; the caller wakes the first sleeper of a part, which gets the rest of
  // it. A member that relays has enough to do, and comes late to it: its part has no recipients that relay to nobody.
  template <class Visit>
  void visit_parts(int relays, Visit&& visit) const {
    if (end - begin <= kMostByOne) {
      divide(begin, end, end - begin, visit);
      return;
    }
    const int middle = relays < begin ? begin : relays < end ? relays : end;
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
  static_assert(PostTree::kMostRecipients <= static_cast<int>(kPlaces) &&
                PostTree::kLeastMembers <= static_cast<int>(kPlaces));

  template <class Visit>
  void divide(int from, int to, int parts, Visit&& visit) const {
    for (int k = 0; k < parts; ++k) {
      const WakeShare part{from + (to - from) * k / parts, from + (to - from) * (k + 1) / parts, by_tree};
      if (part.any()) visit(part);
    }
  }
};

}  // namespace weft::core
