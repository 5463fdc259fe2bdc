// SPDX-License-Identifier: Apache-2.0
// What is said of arrays on machines that are not there: planted faults are found, and none is invented.
#include <gtest/gtest.h>

#include "made_up.h"

namespace {

using weft::tests::ArrayRow;
using weft::tests::MadeUpMachine;

class Verdicts : public MadeUpMachine {
 protected:
  // Two nodes with a thread on each, and an array of 64 MB.
  uint32_t two_nodes(const Where& lies, int policy = 0) {
    make_nodes({0, 1}, 2);
    make_threads({0, 1});
    return make_array(64 * kMegabyte, lies, policy);
  }
  // One that was initialised from `first` and is used from `use`.
  uint32_t used_array(const Where& lies, const Where& first, const Where& use, int policy = 0) {
    const uint32_t array = two_nodes(lies, policy);
    touch(array, 60, first, true);
    touch(array, 1000, use);
    return array;
  }
};

TEST_F(Verdicts, InitialisedByOneThread) {
  used_array(on(0), on(0), halves(0, 1));
  const ArrayRow found = row();
  EXPECT_STREQ(word_of(found.verdict), "serial_init");
  EXPECT_NEAR(found.remote, 0.5, 0.02);
  EXPECT_NEAR(found.expected_remote, 0.5, 0.02);
  EXPECT_NE(found.text.find("100 % on node 0, used 50 % from node 1"), std::string::npos) << found.text;
  EXPECT_NE(found.text.find("in parallel"), std::string::npos) << found.text;
  EXPECT_NE(found.text.find("weft run --numa interleave"), std::string::npos) << found.text;
}

TEST_F(Verdicts, InitialisedInParallel) {
  used_array(halves(0, 1), halves(0, 1), halves(0, 1));
  const ArrayRow found = row();
  EXPECT_STREQ(word_of(found.verdict), "local");
  EXPECT_LT(found.remote, 0.02);
  EXPECT_LT(found.expected_remote, 0.02);
}

TEST_F(Verdicts, OnAnotherNodeThanItsUsers) {
  used_array(on(1), on(0), on(0), 2);
  const ArrayRow found = row();
  EXPECT_STREQ(word_of(found.verdict), "wrong_node");
  EXPECT_NE(found.text.find("weft run --numa bind=0"), std::string::npos) << found.text;
}

TEST_F(Verdicts, BoundToOneNodeWhateverThreadsDo) {
  used_array(on(0), halves(0, 1), halves(0, 1), 2);
  const ArrayRow found = row();
  EXPECT_STREQ(word_of(found.verdict), "wrong_node");
  EXPECT_NE(found.text.find("by its policy (bind)"), std::string::npos) << found.text;
}

TEST_F(Verdicts, InitialisedWithAnotherDivision) {
  used_array(halves(1, 0), halves(1, 0), halves(0, 1));
  EXPECT_EQ(verdict(), "mismatched");
}

TEST_F(Verdicts, MovedAwayByTheKernel) {
  const uint32_t array = two_nodes(on(0));
  touch(array, 60, halves(0, 1), true);
  touch(array, 200, halves(0, 1));
  touch(array, 400, on(0));
  touch(array, 600, halves(0, 1));
  weft::tools::numa::History& history = evidence_.history[array];
  history.first = history.last = std::vector<int>(1024, 1);
  std::fill_n(history.last.begin(), 512, 0);
  history.moved.assign(1024, false);
  const ArrayRow found = row();
  EXPECT_STREQ(word_of(found.verdict), "balanced_away");
  EXPECT_NEAR(found.moved, 0.5, 0.02);
  EXPECT_NE(found.text.find("OMP_PROC_BIND"), std::string::npos) << found.text;
}

TEST_F(Verdicts, MovedToItsUsersByTheKernel) {
  const uint32_t array = used_array(halves(0, 1), on(0), halves(0, 1));
  weft::tools::numa::History& history = evidence_.history[array];
  history.first = history.last = std::vector<int>(1024, 0);
  history.moved.assign(1024, false);
  const ArrayRow found = row();
  EXPECT_STREQ(word_of(found.verdict), "local");
  EXPECT_NE(found.text.find("moved 50 %"), std::string::npos) << found.text;
}

TEST_F(Verdicts, InterleavedByPolicyOrAsItLies) {
  uint32_t array = two_nodes(by_turns({0, 1}), 3);
  touch(array, 60, on(0), true);
  touch(array, 1000, halves(0, 1));
  EXPECT_EQ(verdict(), "interleaved");
  evidence_.recorded.arrays.front().policy = 0;
  EXPECT_EQ(verdict(), "interleaved");
}

TEST_F(Verdicts, UsedByAllAlike) {
  used_array(on(0), on(0), by_turns({0, 1}));
  EXPECT_EQ(verdict(), "shared");
}

TEST_F(Verdicts, UsedByOneThread) {
  used_array(on(0), on(0), on(0));
  EXPECT_EQ(verdict(), "local");
}

TEST_F(Verdicts, BlocksOfOnePlaceThatEachThreadHasToItself) {
  two_nodes(on(0));
  make_array(64 * kMegabyte, on(1));
  evidence_.recorded.arrays[1].site = 0;
  for (int i = 0; i < 10; ++i) {
    touch(1, 20, on(0));
    touch(2, 20, on(1));
  }
  for (weft::tests::RecordedTouch& touch : evidence_.recorded.touches) touch.site = 0;
  const ArrayRow found = row();
  EXPECT_EQ(found.instances, 2U);
  EXPECT_STREQ(word_of(found.verdict), "local");
}

TEST_F(Verdicts, TooFewTouches) {
  const uint32_t array = two_nodes(on(0));
  touch(array, 60, on(0), true);
  touch(array, 10, halves(0, 1));
  EXPECT_EQ(verdict(), "unknown");
}

TEST_F(Verdicts, JustEnoughTouches) {
  const uint32_t array = two_nodes(on(0));
  touch(array, 60, on(0), true);
  touch(array, 24, halves(0, 1));
  EXPECT_EQ(verdict(), "serial_init");
}

TEST_F(Verdicts, TooFewTouchesForSoManyNodes) {
  const std::vector<int> numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  make_nodes(numbers, 4);
  make_threads(numbers);
  const auto eighths = [](double position) { return static_cast<int>(position * 8); };
  const uint32_t array = make_array(512 * kMegabyte, on(0));
  touch(array, 60, on(0), true);
  touch(array, 24, eighths);
  EXPECT_EQ(verdict(), "unknown");
  touch(array, 200, eighths);
  EXPECT_EQ(verdict(), "serial_init");
}

TEST_F(Verdicts, NobodyHasTouchedIt) {
  two_nodes(on(-1));
  EXPECT_EQ(verdict(), "untouched");
}

TEST_F(Verdicts, WhereItLiesIsNotKnown) {
  two_nodes(on(0));
  evidence_.recorded.arrays.front().node.clear();
  evidence_.recorded.query_error = EPERM;
  const auto report = analyse(*kernel_, evidence_, nullptr);
  EXPECT_STREQ(word_of(report.arrays.front().verdict), "unknown");
  ASSERT_FALSE(report.notes.empty());
  EXPECT_NE(report.notes.front().find("move_pages"), std::string::npos);
}

TEST_F(Verdicts, ByTheModelWhereTouchesWereNotSampled) {
  const uint32_t array = two_nodes(on(0));
  evidence_.recorded.touching = weft::numa::Touching::first;
  touch(array, 60, on(0), true);
  const ArrayRow found = row();
  EXPECT_STREQ(word_of(found.verdict), "serial_init");
  EXPECT_TRUE(found.modelled);
  EXPECT_NE(found.text.find("schedule(static)"), std::string::npos);
}

TEST_F(Verdicts, NoModelOfWhatAnotherThreadHasAllocatedOrTouchedFirst) {
  const uint32_t array = two_nodes(on(0));
  evidence_.recorded.touching = weft::numa::Touching::first;
  touch(array, 60, on(0), true);
  evidence_.recorded.arrays.front().thread = 101;
  EXPECT_EQ(verdict(), "unknown");
  evidence_.recorded.arrays.front().thread = 100;
  EXPECT_EQ(verdict(), "serial_init");
  evidence_.recorded.touches.back().thread = 101;
  EXPECT_EQ(verdict(), "unknown");
  evidence_.recorded.touches.clear();
  EXPECT_EQ(verdict(), "unknown");
}

TEST_F(Verdicts, RecycledMemory) {
  used_array(on(0), halves(0, 1), halves(0, 1));
  const ArrayRow found = row();
  EXPECT_STREQ(word_of(found.verdict), "wrong_node");
  EXPECT_NE(found.text.find("recycled memory"), std::string::npos) << found.text;
}

TEST_F(Verdicts, OneNodeIsAllowed) {
  used_array(on(0), on(0), halves(0, 1));
  evidence_.allowed_nodes = "0";
  EXPECT_EQ(verdict(), "one_node");
}

TEST_F(Verdicts, ThreadsThatFloatGetNoExpectation) {
  make_nodes({0, 1}, 2);
  make_threads({-1, -1});
  const uint32_t array = make_array(64 * kMegabyte, on(0));
  evidence_.recorded.touching = weft::numa::Touching::first;
  touch(array, 60, on(0), true);
  const ArrayRow found = row();
  EXPECT_LT(found.expected_remote, 0);
  EXPECT_STREQ(word_of(found.verdict), "unknown");
  EXPECT_NE(found.text.find("not bound"), std::string::npos);
}

TEST_F(Verdicts, ThreadsThatFloatAreToBeBound) {
  make_nodes({0, 1}, 2);
  make_threads({-1, -1});
  const uint32_t array = make_array(64 * kMegabyte, on(0));
  touch(array, 60, on(0), true);
  touch(array, 1000, halves(0, 1));
  EXPECT_EQ(verdict(), "serial_init");
  EXPECT_NE(row().text.find("OMP_PROC_BIND=true"), std::string::npos);
}

TEST_F(Verdicts, OneNode) {
  make_nodes({0}, 4);
  make_threads({0, 0});
  touch(make_array(64 * kMegabyte, on(0)), 1000, on(0));
  EXPECT_EQ(verdict(), "one_node");
}

TEST_F(Verdicts, OneNodeWithMemory) {
  make_nodes({0, 1}, 2, {1});
  make_threads({0, 1});
  touch(make_array(64 * kMegabyte, on(0)), 1000, halves(0, 1));
  EXPECT_EQ(verdict(), "one_node");
}

TEST_F(Verdicts, NoNodesAtAll) {
  kernel_ = std::make_unique<weft::tests::MadeUpKernel>(root_.string());
  touch(make_array(64 * kMegabyte, on(0)), 100, on(0));
  const auto report = analyse(*kernel_, evidence_, nullptr);
  EXPECT_STREQ(word_of(report.arrays.front().verdict), "one_node");
  ASSERT_FALSE(report.notes.empty());
  EXPECT_NE(report.notes.front().find("no NUMA nodes"), std::string::npos);
}

TEST_F(Verdicts, EightNodesWithHolesInTheirNumbers) {
  const std::vector<int> numbers = {0, 1, 2, 5, 6, 7, 8, 12};
  make_nodes(numbers, 4);
  make_threads(numbers);
  const auto eighths = [&](double position) { return numbers[static_cast<size_t>(position * 8)]; };
  const uint32_t array = make_array(512 * kMegabyte, eighths);
  touch(array, 120, eighths, true);
  touch(array, 2000, eighths);
  EXPECT_EQ(verdict(), "local");
  evidence_.recorded.arrays.front().node.assign(1024, 5);
  const ArrayRow found = row();
  EXPECT_STREQ(word_of(found.verdict), "wrong_node");
  EXPECT_NEAR(found.misplaced, 7.0 / 8, 0.05);
  EXPECT_EQ(found.used[127], 12);
}

TEST_F(Verdicts, MemoryOfANodeWithoutCpus) {
  make_nodes({0, 1}, 0);
  write("node/node0/cpulist", "0-3");
  kernel_ = std::make_unique<weft::tests::MadeUpKernel>(root_.string());
  make_threads({0, 0});
  const uint32_t array = make_array(64 * kMegabyte, on(1), 2);
  touch(array, 60, on(0), true);
  touch(array, 1000, on(0));
  EXPECT_EQ(verdict(), "wrong_node");
  EXPECT_NE(row().text.find("bind=0"), std::string::npos);
}

}  // namespace
