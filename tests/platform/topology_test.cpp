// SPDX-License-Identifier: Apache-2.0
// Sets of CPUs, and the reader of /sys on copies of what it looks like.
#include "platform/topology.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "made_up_sys.h"

namespace {

namespace fs = std::filesystem;
using weft::platform::CpuSet;
using weft::platform::Level;
using weft::platform::Topology;
using weft::tests::cpus;
using weft::tests::text_of;

TEST(CpuSet, Lists) {
  for (const char* list : {"", "0", "0-3", "1,3,5", "0-1,63-64,127,8191"}) EXPECT_EQ(text_of(cpus(list)), list);
  EXPECT_EQ(text_of(cpus("0-3\n")), "0-3");
  EXPECT_EQ(text_of(cpus("8190-9000")), "8190-8191");
  EXPECT_EQ(text_of(cpus("3-1")), "");
  EXPECT_EQ(text_of(cpus("garbage")), "");
  EXPECT_EQ(text_of(cpus("99999999999999999999")), "");
}

TEST(CpuSet, Elements) {
  const CpuSet set = cpus("3,64,200");
  EXPECT_EQ(set.count(), 3);
  EXPECT_EQ(set.first(), 3);
  EXPECT_EQ(set.next(4), 64);
  EXPECT_EQ(set.next(65), 200);
  EXPECT_EQ(set.next(201), -1);
  EXPECT_EQ(set.next(CpuSet::kMost), -1);
  std::vector<int> found;
  for (const int cpu : each(set)) found.push_back(cpu);
  EXPECT_EQ(found, (std::vector<int>{3, 64, 200}));
  EXPECT_TRUE(CpuSet().empty());
}

TEST(CpuSet, IsTheMaskOfThisThread) {
  const CpuSet before = weft::platform::thread_cpus();
  ASSERT_FALSE(before.empty());
  CpuSet one;
  one.add(before.first());
  EXPECT_TRUE(weft::platform::bind_thread(one));
  EXPECT_EQ(text_of(weft::platform::thread_cpus()), text_of(one));
  EXPECT_FALSE(weft::platform::bind_thread(CpuSet()));
  EXPECT_TRUE(weft::platform::bind_thread(before));
}

class Sys : public weft::tests::MadeUpSys {
 protected:
  std::vector<int> leaders(Level level, const char* list) const {
    const CpuSet set = cpus(list);
    auto topology = std::make_unique<Topology>(set, root_.c_str());
    std::vector<int> found;
    for (const int cpu : each(set)) found.push_back(topology->leader(level, cpu));
    return found;
  }
  std::vector<int> order(const char* list) const {
    auto topology = std::make_unique<Topology>(cpus(list), root_.c_str());
    return {topology->in_order().begin(), topology->in_order().end()};
  }
};

using Cpus = std::vector<int>;

TEST_F(Sys, Levels) {
  make_eight();
  EXPECT_EQ(leaders(Level::threads, "0-7"), (Cpus{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(leaders(Level::cores, "0-7"), (Cpus{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(leaders(Level::ll_caches, "0-7"), (Cpus{0, 0, 2, 2, 0, 0, 2, 2}));
  EXPECT_EQ(leaders(Level::numa_domains, "0-7"), (Cpus{0, 0, 0, 0, 4, 4, 4, 4}));
  EXPECT_EQ(leaders(Level::sockets, "0-7"), (Cpus{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(order("0-7"), (Cpus{0, 4, 2, 6, 1, 5, 3, 7}));
}

TEST_F(Sys, Dies) {
  make_eight();
  EXPECT_EQ(leaders(Level::dies, "0-7"), (Cpus{0, 1, 0, 1, 0, 1, 0, 1}));
  for (const int cpu : {0, 4}) write("cpu/cpu" + std::to_string(cpu) + "/topology/die_cpus_list", "0,4");
  for (const int cpu : {2, 6}) write("cpu/cpu" + std::to_string(cpu) + "/topology/die_cpus_list", "2,6");
  EXPECT_EQ(leaders(Level::dies, "0-7"), (Cpus{0, 1, 2, 1, 0, 1, 2, 1}));
}

TEST_F(Sys, PartOfTheMachine) {
  make_eight();
  EXPECT_EQ(leaders(Level::cores, "3-6"), (Cpus{3, 4, 5, 6}));
  EXPECT_EQ(leaders(Level::sockets, "3-6"), (Cpus{3, 4, 3, 4}));
  EXPECT_EQ(leaders(Level::ll_caches, "3-6"), (Cpus{3, 4, 4, 3}));
  EXPECT_EQ(order("3-6"), (Cpus{3, 5, 4, 6}));
  EXPECT_EQ(leaders(Level::sockets, "6"), (Cpus{6}));
}

TEST_F(Sys, NamesOfOldKernels) {
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string folder = "cpu/cpu" + std::to_string(cpu) + "/topology/";
    write(folder + "thread_siblings_list", cpu < 2 ? "0-1" : "2-3");
    write(folder + "core_siblings_list", "0-3");
  }
  EXPECT_EQ(leaders(Level::cores, "0-3"), (Cpus{0, 0, 2, 2}));
  EXPECT_EQ(leaders(Level::sockets, "0-3"), (Cpus{0, 0, 0, 0}));
}

TEST_F(Sys, NothingThere) {
  EXPECT_EQ(leaders(Level::cores, "1-3"), (Cpus{1, 2, 3}));
  for (const Level level : {Level::ll_caches, Level::numa_domains, Level::sockets}) {
    EXPECT_EQ(leaders(level, "1-3"), (Cpus{1, 1, 1}));
  }
}

TEST_F(Sys, Garbage) {
  make_eight();
  for (const char* text : {"", "garbage", "-1", "9999999999", "0-", ","}) {
    write("cpu/cpu0/topology/core_cpus_list", text);
    write("cpu/cpu0/topology/package_cpus_list", text);
    write("cpu/cpu0/cache/index1/level", text);
    write("node/online", text);
    const Cpus found = leaders(Level::cores, "0-7");
    EXPECT_EQ(found[0], 0) << text;
    EXPECT_EQ(order("0-7").size(), 8U) << text;
  }
}

// An offline CPU is in no mask, and its folder has no topology.
TEST_F(Sys, OfflineCpus) {
  make_eight();
  fs::remove_all(root_ / "sys/devices/system/cpu/cpu4");
  write("cpu/cpu0/topology/core_cpus_list", "0");
  EXPECT_EQ(leaders(Level::cores, "0-3,5-7"), (Cpus{0, 1, 2, 3, 1, 2, 3}));
}

}  // namespace
