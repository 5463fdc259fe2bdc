// SPDX-License-Identifier: Apache-2.0
// How CPUs are divided: the sum is what there is, by weight, and nobody gets what he cannot use.
#include "node/division.h"

#include <climits>
#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace weft::node;
using weft::platform::CpuSet;

CpuSet cpus(int first, int count) {
  CpuSet set;
  for (int i = 0; i < count; ++i) set.add(first + i);
  return set;
}

struct Process {
  int weight;
  int wanted;
  CpuSet may_use;
};

std::vector<Demand> divide(const std::vector<Process>& processes, uint32_t phase = 0) {
  std::vector<Demand> demands;
  for (const Process& process : processes) {
    demands.push_back({.weight = process.weight, .wanted = process.wanted, .missing = true});
  }
  const auto division = std::make_unique<Division>();
  division->divide(demands.data(), static_cast<int>(demands.size()), phase,
                   [&](int i) -> const CpuSet& { return processes[static_cast<size_t>(i)].may_use; });
  return demands;
}

std::vector<int> dues(const std::vector<Process>& processes, uint32_t phase = 0) {
  std::vector<int> result;
  for (const Demand& demand : divide(processes, phase)) result.push_back(demand.due);
  return result;
}

TEST(DivisionTest, AloneGetsWhatItWants) {
  EXPECT_EQ(dues({{100, 8, cpus(0, 8)}}), std::vector<int>({8}));
  EXPECT_EQ(dues({{100, 3, cpus(0, 8)}}), std::vector<int>({3}));
  EXPECT_EQ(dues({{100, 20, cpus(4, 4)}}), std::vector<int>({4}));
  EXPECT_EQ(dues({}), std::vector<int>());
}

// Whatever a process writes into its record.
TEST(DivisionTest, NumbersWithoutBounds) {
  EXPECT_EQ(dues({{INT_MAX, INT_MAX, cpus(0, 8)}, {INT_MAX, INT_MAX, cpus(0, 8)}}), std::vector<int>({4, 4}));
  EXPECT_EQ(dues({{-5, INT_MAX, cpus(0, 4)}, {0, INT_MAX, cpus(0, 4)}}), std::vector<int>({2, 2}));
  EXPECT_EQ(dues({{100, INT_MIN, cpus(0, 4)}, {100, 4, cpus(0, 4)}}), std::vector<int>({0, 4}));
}

TEST(DivisionTest, EvenAndByWeight) {
  EXPECT_EQ(dues({{100, 8, cpus(0, 8)}, {100, 8, cpus(0, 8)}}), std::vector<int>({4, 4}));
  EXPECT_EQ(dues({{300, 8, cpus(0, 8)}, {100, 8, cpus(0, 8)}}), std::vector<int>({6, 2}));
}

TEST(DivisionTest, WhatOneDoesNotWantGoesToTheOthers) {
  EXPECT_EQ(dues({{100, 1, cpus(0, 8)}, {100, 8, cpus(0, 8)}, {100, 0, cpus(0, 8)}}), std::vector<int>({1, 7, 0}));
}

TEST(DivisionTest, MasksAreRespected) {
  EXPECT_EQ(dues({{100, 8, cpus(0, 4)}, {100, 8, cpus(4, 4)}}), std::vector<int>({4, 4}));
  // The first has a choice and leaves the second what that alone can use.
  EXPECT_EQ(dues({{100, 4, cpus(0, 4)}, {100, 4, cpus(2, 2)}}), std::vector<int>({2, 2}));
  EXPECT_EQ(dues({{100, 4, cpus(0, 4)}, {100, 4, cpus(2, 2)}, {100, 4, cpus(2, 2)}}), std::vector<int>({2, 1, 1}));
}

TEST(DivisionTest, OnlyWhoSharesCpusIsPressed) {
  std::vector<Demand> demands = divide({{100, 4, cpus(0, 4)}, {100, 4, cpus(4, 4)}, {100, 4, cpus(7, 2)}});
  EXPECT_FALSE(demands[0].pressed);
  EXPECT_TRUE(demands[1].pressed);
  EXPECT_TRUE(demands[2].pressed);
}

// Over all phases everybody gets his part of a CPU, and at each of them the CPUs come out even.
TEST(DivisionTest, PartsAreTurns) {
  const std::vector<std::vector<Process>> cases = {
      {{100, 9, cpus(0, 3)}, {100, 9, cpus(0, 3)}},
      {{100, 9, cpus(0, 2)}, {300, 9, cpus(0, 2)}},
      {{100, 9, cpus(0, 3)}, {100, 9, cpus(0, 3)}, {100, 9, cpus(0, 3)}, {100, 9, cpus(0, 3)}, {100, 9, cpus(0, 3)}},
  };
  const std::vector<std::vector<double>> expected = {{1.5, 1.5}, {0.5, 1.5}, {0.6, 0.6, 0.6, 0.6, 0.6}};
  for (size_t c = 0; c < cases.size(); ++c) {
    std::vector<double> sums(cases[c].size());
    constexpr int kPhases = 256;
    for (uint32_t phase = 0; phase < kPhases; ++phase) {
      const std::vector<int> at = dues(cases[c], phase << 8);
      EXPECT_EQ(std::accumulate(at.begin(), at.end(), 0), cases[c].front().may_use.count());
      for (size_t i = 0; i < at.size(); ++i) sums[i] += at[i];
    }
    for (size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(sums[i] / kPhases, expected[c][i], 0.07) << c << " " << i;
  }
}

TEST(DivisionTest, ManyProcessesAndCpus) {
  std::vector<Process> processes;
  for (int i = 0; i < kMostProcesses; ++i) processes.push_back({1 + i % 7, 100, cpus(i * 8, 512)});
  const std::vector<int> result = dues(processes);
  const int sum = std::accumulate(result.begin(), result.end(), 0);
  EXPECT_LE(sum, 255 * 8 + 512);
  for (const int due : result) EXPECT_LE(due, 101);
  EXPECT_GT(sum, 0);
}

}  // namespace
