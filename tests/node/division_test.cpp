// SPDX-License-Identifier: Apache-2.0
// How CPUs are divided: the sum is what there is, by weight, and nobody gets what he cannot use.
#include "node/division.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <numeric>
#include <random>
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
  division->set_processes(static_cast<int>(demands.size()),
                          [&](int i) -> const CpuSet& { return processes[static_cast<size_t>(i)].may_use; });
  division->divide(demands.data(), phase);
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

// As many as there can be, all with the same CPUs: nobody is left out.
TEST(DivisionTest, ManyProcessesOnTheSameCpus) {
  constexpr int kCpus = 512;
  const std::vector<int> result = dues(std::vector<Process>(kMostProcesses, {100, 4, cpus(0, kCpus)}));
  EXPECT_EQ(result, std::vector<int>(kMostProcesses, kCpus / kMostProcesses));
  const std::vector<Demand> demands = divide(std::vector<Process>(kMostProcesses, {100, 4, cpus(0, 192)}));
  EXPECT_TRUE(std::all_of(demands.begin(), demands.end(), [](const Demand& demand) { return demand.pressed; }));
}

// A process that alone misses CPUs presses the others, and not itself.
TEST(DivisionTest, WhoMissesAloneIsNotPressed) {
  std::vector<Demand> demands(3);
  for (Demand& demand : demands) demand.wanted = 4;
  demands[1].missing = true;
  const auto division = std::make_unique<Division>();
  division->set_processes(3, [](int) { return cpus(0, 4); });
  division->divide(demands.data(), 0);
  EXPECT_TRUE(demands[0].pressed);
  EXPECT_FALSE(demands[1].pressed);
  EXPECT_TRUE(demands[2].pressed);
}

// The simple way to the same result: one part after the other, looking at all processes and all CPUs each time.
std::vector<int> divide_slowly(const std::vector<Process>& processes, int parts) {
  struct Cpu {
    std::vector<bool> users;
    int room;
  };
  std::vector<Cpu> all;
  for (int cpu = 0; cpu < CpuSet::kMost; ++cpu) {
    std::vector<bool> users;
    for (const Process& process : processes) users.push_back(process.may_use.has(cpu));
    if (std::count(users.begin(), users.end(), true) != 0) all.push_back({users, parts});
  }
  std::vector<int> got(processes.size());
  std::vector<bool> full(processes.size());
  for (;;) {
    int next = -1;
    for (int i = 0; i < static_cast<int>(processes.size()); ++i) {
      const auto at = static_cast<size_t>(i);
      if (full[at] || got[at] >= processes[at].wanted * parts) continue;
      if (next < 0 ||
          got[at] * processes[static_cast<size_t>(next)].weight < got[static_cast<size_t>(next)] * processes[at].weight)
        next = i;
    }
    if (next < 0) return got;
    Cpu* best = nullptr;
    const auto users = [](const Cpu& cpu) { return std::count(cpu.users.begin(), cpu.users.end(), true); };
    for (Cpu& cpu : all) {
      if (cpu.room == 0 || !cpu.users[static_cast<size_t>(next)]) continue;
      if (best == nullptr || users(cpu) < users(*best)) best = &cpu;
    }
    if (best == nullptr) {
      full[static_cast<size_t>(next)] = true;
      continue;
    }
    --best->room;
    ++got[static_cast<size_t>(next)];
  }
}

// Masks that are the same or apart, so that it does not matter which of several CPUs a part comes from.
TEST(DivisionTest, SameAsTheSimpleWay) {
  std::minstd_rand random(1);
  for (int round = 0; round < 60; ++round) {
    std::vector<Process> processes;
    const int count = 1 + static_cast<int>(random() % 12);
    for (int i = 0; i < count; ++i) {
      const bool left = random() % 2 == 0;
      processes.push_back(
          {1 + static_cast<int>(random() % 5), static_cast<int>(random() % 20), left ? cpus(0, 12) : cpus(12, 20)});
    }
    // With 32 CPUs or fewer each has 16 parts.
    const std::vector<int> expected = divide_slowly(processes, 16);
    std::vector<int> sums(processes.size());
    for (uint32_t phase = 0; phase < 16; ++phase) {
      const std::vector<int> at = dues(processes, phase << 12);
      for (size_t i = 0; i < at.size(); ++i) sums[i] += at[i];
    }
    EXPECT_EQ(sums, expected) << "round " << round;
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
