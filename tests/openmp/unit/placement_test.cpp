// SPDX-License-Identifier: Apache-2.0
// OpenMP 5.2, section 10.1.3, checked as it is worded, for every size of team and partition and every place of the parent.
#include "openmp/record/placement.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace {

using namespace weft::openmp;
using Kind = Placement::Kind;

constexpr int kFirst = 3;  // partitions need not begin at place 0
constexpr int kMost = 9;

std::vector<ThreadPlace> places_of(const Placement& placement) {
  std::vector<ThreadPlace> all;
  for (int i = 0; i < placement.members; ++i) all.push_back(thread_place_of(placement, i));
  return all;
}

int next(int place, int count) { return kFirst + (place - kFirst + 1) % count; }

template <class Check>
void for_all(Kind kind, Check&& check) {
  for (int count = 1; count <= kMost; ++count) {
    for (int parent = kFirst; parent < kFirst + count; ++parent) {
      for (int members = 1; members <= 3 * kMost; ++members) {
        SCOPED_TRACE(testing::Message() << members << " members, " << count << " places, parent at " << parent);
        const Placement placement{kind, {parent, {kFirst, count}}, members};
        const std::vector<ThreadPlace> all = places_of(placement);
        EXPECT_EQ(all[0].place, parent);
        for (const ThreadPlace& each : all) {
          EXPECT_GE(each.place, each.partition.first);
          EXPECT_LT(each.place, each.partition.first + each.partition.count);
          EXPECT_GE(each.partition.first, kFirst);
          EXPECT_LE(each.partition.first + each.partition.count, kFirst + count);
        }
        std::map<int, int> so_far;
        for (int i = 0; i < members; ++i) EXPECT_EQ(rank_in_place(placement, i), so_far[all[i].place]++) << i;
        check(placement, all, count);
      }
    }
  }
}

// Each place as many as the others or one more, consecutive numbers, from the parent's place round the partition.
void expect_even(const std::vector<ThreadPlace>& all, int count) {
  const int members = static_cast<int>(all.size());
  std::map<int, int> of_place;
  for (size_t i = 0; i < all.size(); ++i) {
    ++of_place[all[i].place];
    if (i > 0 && all[i].place != all[i - 1].place) {
      EXPECT_EQ(all[i].place, next(all[i - 1].place, count));
    }
  }
  EXPECT_EQ(of_place.size(), static_cast<size_t>(count));
  for (const auto& [place, number] : of_place) {
    EXPECT_GE(number, members / count) << place;
    EXPECT_LE(number, (members + count - 1) / count) << place;
  }
}

TEST(Placement, Primary) {
  for_all(Kind::primary, [](const Placement& placement, const std::vector<ThreadPlace>& all, int) {
    for (const ThreadPlace& each : all) EXPECT_EQ(each, placement.parent);
  });
}

TEST(Placement, Close) {
  for_all(Kind::close, [](const Placement& placement, const std::vector<ThreadPlace>& all, int count) {
    for (const ThreadPlace& each : all) EXPECT_EQ(each.partition, placement.parent.partition);
    if (placement.members > count) return expect_even(all, count);
    for (size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].place, next(all[i - 1].place, count));
  });
}

TEST(Placement, Cyclic) {
  for_all(Kind::cyclic, [](const Placement&, const std::vector<ThreadPlace>& all, int count) {
    for (size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].place, next(all[i - 1].place, count));
  });
}

TEST(Placement, Spread) {
  for_all(Kind::spread, [](const Placement& placement, const std::vector<ThreadPlace>& all, int count) {
    if (placement.members > count) {
      for (const ThreadPlace& each : all) EXPECT_EQ(each.partition, (Partition{each.place, 1}));
      return expect_even(all, count);
    }
    // The parts follow one another round the partition and fill it.
    int sum = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const Partition mine = all[i].partition;
      const Partition after = all[(i + 1) % all.size()].partition;
      EXPECT_EQ(after.first, kFirst + (mine.first + mine.count - kFirst) % count);
      EXPECT_GE(mine.count, count / placement.members);
      EXPECT_LE(mine.count, (count + placement.members - 1) / placement.members);
      if (i > 0) {
        EXPECT_EQ(all[i].place, mine.first);
      }
      sum += mine.count;
    }
    EXPECT_EQ(sum, count);
  });
}

TEST(Placement, Unbound) {
  for (const Kind kind : {Kind::primary, Kind::close, Kind::cyclic, Kind::spread}) {
    EXPECT_EQ(thread_place_of({kind, {}, 4}, 3), ThreadPlace());
  }
}

}  // namespace
