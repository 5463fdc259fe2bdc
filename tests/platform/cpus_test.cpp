// SPDX-License-Identifier: Apache-2.0
// The cgroup reader, on copies of what /proc and /sys look like.
#include "platform/cpus.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;

class Cgroup : public testing::Test {
 protected:
  Cgroup() { root_ = fs::path(testing::TempDir()) / ("weft_cgroup_" + std::to_string(getpid())); }
  ~Cgroup() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  int quota() const { return weft::platform::cgroup_quota_millis(root_.c_str()); }

  fs::path root_;
};

TEST_F(Cgroup, NothingThere) { EXPECT_EQ(quota(), 0); }

TEST_F(Cgroup, Version2) {
  write("proc/self/cgroup", "0::/user.slice/job\n");
  write("sys/fs/cgroup/user.slice/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1500);
}

TEST_F(Cgroup, NoLimit) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 0);
}

TEST_F(Cgroup, TheTightestOfTheParents) {
  write("proc/self/cgroup", "0::/a/b/c\n");
  write("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
  write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota(), 2000);
}

// In a container the group's path is often the host's; the mount shows the group itself.
TEST_F(Cgroup, ThePathIsNotMounted) {
  write("proc/self/cgroup", "0::/docker/0123abcd\n");
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(quota(), 500);
}

TEST_F(Cgroup, Version1) {
  write("proc/self/cgroup", "12:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3000);
}

TEST_F(Cgroup, Version1WithoutLimit) {
  write("proc/self/cgroup", "4:cpuacct,cpu:/\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0);
}

// cpuset is another controller than cpu.
TEST_F(Cgroup, OtherControllers) {
  write("proc/self/cgroup", "4:cpuset:/\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0);
}

TEST_F(Cgroup, PartsOfACpuAreRoundedUp) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "100001 100000\n");
  EXPECT_EQ(quota(), 1001);
}

TEST_F(Cgroup, Garbage) {
  for (const char* text : {"", "garbage", "100000", "-5 100000", "100000 0", "100000 -1", "1e5 100000"}) {
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(quota(), 0) << text;
  }
  write("sys/fs/cgroup/cpu.max", "9000000000000000000 1\n");
  EXPECT_EQ(quota(), 0);
  for (const char* text : {"no colons at all\n", "0:\n", "::\n", "0::\n"}) {
    write("proc/self/cgroup", text);
    EXPECT_GE(quota(), 0) << text;
  }
}

TEST(CpuBudget, IsWithinTheMask) {
  const weft::platform::CpuBudget budget = weft::platform::cpu_budget();
  EXPECT_GE(budget.usable, 1);
  EXPECT_LE(budget.usable, budget.affinity);
}

TEST(LeaveCpu, MovesAndKeepsTheMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  // The kernel may bring the thread back before it looks: not every time.
  bool moved = false;
  for (int i = 0; i < 100 && !moved; ++i) {
    const int cpu = weft::platform::current_cpu();
    weft::platform::leave_cpu(cpu);
    moved = weft::platform::current_cpu() != cpu;
  }
  EXPECT_EQ(moved, CPU_COUNT(&before) > 1);
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  weft::platform::leave_cpu(-1);
  weft::platform::leave_cpu(1 << 20);
}

// On a single CPU there is nowhere to go.
TEST(LeaveCpu, StaysWhereThereIsNoOther) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const int cpu = weft::platform::current_cpu();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(cpu), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  weft::platform::leave_cpu(cpu);
  EXPECT_EQ(weft::platform::current_cpu(), cpu);
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&one, &after));
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
