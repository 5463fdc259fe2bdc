// SPDX-License-Identifier: Apache-2.0
// Sets of CPUs, and the reader of /sys on copies of what it looks like.
#include "platform/topology.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using weft::platform::CpuSet;
using weft::platform::Level;
using weft::platform::Topology;

std::string text_of(const CpuSet& set) {
  std::string text(format_cpu_list(set, nullptr, 0), ' ');
  format_cpu_list(set, text.data(), text.size() + 1);
  return text;
}

CpuSet cpus(const char* list) { return weft::platform::parse_cpu_list(list); }

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

class Sys : public testing::Test {
 protected:
  Sys() { root_ = fs::path(testing::TempDir()) / ("weft_sys_" + std::to_string(getpid())); }
  ~Sys() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const fs::path file = root_ / "sys/devices/system" / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
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

  // CPUs 0 and 4, 1 and 5 ... share a core; 0, 2, 4, 6 the first socket.
  void make_eight() const {
    for (int cpu = 0; cpu < 8; ++cpu) {
      const std::string folder = "cpu/cpu" + std::to_string(cpu) + "/";
      const int core = cpu % 4;
      write(folder + "topology/core_cpus_list", std::to_string(core) + "," + std::to_string(core + 4));
      write(folder + "topology/package_cpus_list", core % 2 == 0 ? "0,2,4,6" : "1,3,5,7");
      write(folder + "cache/index0/level", "1");
      write(folder + "cache/index0/shared_cpu_list", std::to_string(cpu));
      write(folder + "cache/index1/level", "3");
      write(folder + "cache/index1/shared_cpu_list", core < 2 ? "0-1,4-5" : "2-3,6-7");
    }
    write("node/online", "0,2");
    write("node/node0/cpulist", "0-3");
    write("node/node2/cpulist", "4-7");
  }

  fs::path root_;
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
