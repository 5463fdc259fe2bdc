// SPDX-License-Identifier: Apache-2.0
// What is left to MPI by its times: here both take the time that the test gives them.
#include <cstdio>

#include <gtest/gtest.h>
#include <unistd.h>

#include "coll/front/comparison.h"
#include "ranks.h"

namespace {

using test::Place;
using weft::coll::Comparison;
using weft::coll::Operation;

constexpr int kCalls = Comparison::kCallsBefore + 2 * Comparison::kRounds;

struct Calls {
  int weft = 0, mpi = 0;
  bool last_is_weft = false;
};

// Calls of a class until it is settled, and one more. Rank `slow` takes 5 ms for those of `slow_weft`'s side.
Calls perform(Comparison& comparison, weft::coll::Group& group, Place& place, Operation operation, size_t bytes,
              bool slow_weft) {
  Calls calls;
  for (int call = 0; call <= kCalls; ++call) {
    Comparison::Timing timing;
    calls.last_is_weft = comparison.takes(group, operation, bytes, timing);
    if (place.rank == 1 && calls.last_is_weft == slow_weft && call >= Comparison::kCallsBefore) usleep(5000);
    Comparison::end(timing);
    ++(calls.last_is_weft ? calls.weft : calls.mpi);
  }
  return calls;
}

int g_told = 0;
Comparison::Found g_found;

// In each rank a process; only rank 1 is slow, but all decide alike.
int decide(Place& place, Operation operation, size_t bytes, bool slow_weft, bool wanted, int most_mpi) {
  const char* why = nullptr;
  weft::coll::Group* group = weft::coll::create(place.bootstrap(), {}, &why);
  if (group == nullptr) return 2;
  Comparison comparison(
      [](const void*, const Comparison::Found& found) {
        ++g_told;
        g_found = found;
      },
      nullptr);
  const Calls calls = perform(comparison, *group, place, operation, bytes, slow_weft);
  const bool told = g_told == 1 && g_found.operation == operation && g_found.left != wanted && g_found.from <= bytes &&
                    g_found.to >= bytes && g_found.to < 2 * bytes + 1;
  const bool good = calls.last_is_weft == wanted && calls.mpi <= most_mpi && told;
  if (!good) std::fprintf(stderr, "rank %d: weft %d, MPI %d, told %d\n", place.rank, calls.weft, calls.mpi, g_told);
  weft::coll::destroy(group);
  return good ? 0 : 1;
}

bool all_good(const std::vector<int>& statuses) {
  for (const int status : statuses) {
    if (status != 0) return false;
  }
  return true;
}

TEST(ComparisonTest, WhatMpiDoesFasterIsLeftToIt) {
  for (const int ranks : {2, 3}) {
    EXPECT_TRUE(all_good(test::run_processes(ranks, [](Place& place) {
      return decide(place, Operation::alltoall, 40'000, /*slow_weft=*/true, /*wanted=*/false, kCalls);
    })));
  }
}

// After a few rounds, since MPI is slower by far: the program does not pay for all.
TEST(ComparisonTest, WhatWeftDoesFasterStaysAndMpiIsNotMeasuredForLong) {
  EXPECT_TRUE(all_good(test::run_processes(
      2, [](Place& place) { return decide(place, Operation::barrier, 0, /*slow_weft=*/false, /*wanted=*/true, 3); })));
}

// The result of a reduction must not follow from times.
TEST(ComparisonTest, ReductionsAreNotCompared) {
  EXPECT_TRUE(all_good(test::run_processes(2, [](Place& place) {
    const char* why = nullptr;
    weft::coll::Group* group = weft::coll::create(place.bootstrap(), {}, &why);
    if (group == nullptr) return 2;
    Comparison comparison(nullptr, nullptr);
    int mpi = 0;
    for (const Operation operation : {Operation::reduce, Operation::allreduce}) {
      mpi += perform(comparison, *group, place, operation, 1000, /*slow_weft=*/true).mpi;
    }
    weft::coll::destroy(group);
    return mpi;
  })));
}

// Each class is measured for itself, also when MPI makes one of its collectives out of another one.
TEST(ComparisonTest, ClassesAreMeasuredApart) {
  EXPECT_TRUE(all_good(test::run_processes(2, [](Place& place) {
    const char* why = nullptr;
    weft::coll::Group* group = weft::coll::create(place.bootstrap(), {}, &why);
    if (group == nullptr) return 2;
    Comparison comparison(nullptr, nullptr);
    bool large = true;
    for (int call = 0; call <= 2 * kCalls; ++call) {
      Comparison::Timing outer, inner;
      large = comparison.takes(*group, Operation::alltoall, 100'000, outer);
      if (large) {
        if (call >= Comparison::kCallsBefore) usleep(5000);
      } else {
        comparison.takes(*group, Operation::alltoall, 100, inner);
        Comparison::end(inner);
      }
      Comparison::end(outer);
    }
    weft::coll::destroy(group);
    return !large ? 0 : 1;
  })));
}

}  // namespace
