// SPDX-License-Identifier: Apache-2.0
// KMP_HW_SUBSET: its grammar, and what it chooses on machines that are not there.
#include "openmp/affinity/hw_subset.h"

#include <gtest/gtest.h>

#include <string>

#include "made_up_sys.h"

namespace {

using namespace weft::openmp;
using weft::tests::cpus;
using weft::tests::text_of;

std::string list(int first, int count, int step = 1) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i > 0 ? "," : "") + std::to_string(first + i * step);
  return text;
}

TEST(HwSubset, Grammar) {
  for (const char* text : {"1s", "2S,4C,2T", " 1 s , 4 c @ 2 , 1 t", "*c", "c", "4t,2s,1c", ":1s,2t@1", "1d", "1n,1ll,2c",
                           "1socket,1die,1numa,1llc,1core,1thread", "4c:intel_atom,5c:intel_core", "2c:eff0@1,3c@1:eff1",
                           "*c:eff1@3"}) {
    HwSubset subset;
    EXPECT_TRUE(parse_hw_subset(text, &subset)) << text;
    EXPECT_GT(subset.size, 0) << text;
  }
  for (const char* text : {"", "2", "2x", "0s", "-1s", "1s,", "1s,,1c", "1s 1c", "1s,1s", "1c,2c", "1c,1c:eff0", "1c:eff0,1c:eff0",
                           "1c:eff9", "1c:big", "1t:eff0", "1c@", "1c@a", "1c@1@2", "1c:eff0:eff1", "99999999999c", "s1"}) {
    HwSubset subset;
    EXPECT_FALSE(parse_hw_subset(text, &subset)) << text;
  }
}

class Subset : public weft::tests::MadeUpSys {
 protected:
  std::string chosen(const char* text, const char* from) const {
    HwSubset subset;
    if (!parse_hw_subset(text, &subset)) return "bad";
    const char* lacking = nullptr;
    const auto found = choose_cpus(subset, cpus(from), root_.c_str(), &lacking);
    EXPECT_EQ(found.empty(), lacking != nullptr) << text;
    return lacking != nullptr ? "too few " + std::string(lacking) : text_of(found);
  }

  // 2 sockets of `dies` dies of 4 cores of 2 threads; siblings have consecutive numbers.
  void make(int dies) const {
    const int per_die = 8;
    for (int cpu = 0; cpu < 2 * dies * per_die; ++cpu) {
      const std::string folder = "cpu/cpu" + std::to_string(cpu) + "/topology/";
      write(folder + "core_cpus_list", list(cpu / 2 * 2, 2));
      write(folder + "die_cpus_list", list(cpu / per_die * per_die, per_die));
      write(folder + "package_cpus_list", list(cpu / (dies * per_die) * dies * per_die, dies * per_die));
    }
  }
};

TEST_F(Subset, CountsInTheUnitAround) {
  make(1);
  EXPECT_EQ(chosen("1s", "0-15"), "0-7");
  EXPECT_EQ(chosen("1s@1", "0-15"), "8-15");
  EXPECT_EQ(chosen("2c", "0-15"), "0-3,8-11");
  EXPECT_EQ(chosen("2s,2c@1,1t", "0-15"), "2,4,10,12");
  EXPECT_EQ(chosen("1t@1,1s,3c", "0-15"), "1,3,5");
  EXPECT_EQ(chosen("1t", "0-15"), "0,2,4,6,8,10,12,14");
  EXPECT_EQ(chosen("*c@3", "0-15"), "6-7,14-15");
  EXPECT_EQ(chosen("1s,1d,1n,1ll,1c,1t", "0-15"), "0");
}

TEST_F(Subset, DiesAreCountedWhetherNamedOrNot) {
  make(2);
  EXPECT_EQ(chosen("1c", "0-31"), "0-1,8-9,16-17,24-25");
  EXPECT_EQ(chosen("1s,1d@1,1c", "0-31"), "8-9");
  EXPECT_EQ(chosen("5c", "0-31"), "too few cores");
  EXPECT_EQ(chosen("3d", "0-31"), "too few dies");
}

TEST_F(Subset, CountsInTheMachine) {
  make(1);
  EXPECT_EQ(chosen(":3t@7", "0-15"), "7-9");
  EXPECT_EQ(chosen(":5c", "0-15"), "0-9");
  EXPECT_EQ(chosen(":1s,2t@1", "0-15"), "1-2");
  EXPECT_EQ(chosen(":17t", "0-15"), "too few hardware threads");
}

TEST_F(Subset, CachesAndMemories) {
  make_eight();
  EXPECT_EQ(chosen("1ll", "0-7"), "0-1,4-5");
  EXPECT_EQ(chosen("1ll@1,1t", "0-7"), "2-3");
  EXPECT_EQ(chosen("1s,1n@1", "0-7"), "4,6");
  EXPECT_EQ(chosen("1n,2ll,1c", "0-7"), "0-3");
  EXPECT_EQ(chosen("3ll", "0-7"), "too few last-level caches");
}

TEST_F(Subset, OfTheCpusThatTheProcessMayUse) {
  make(1);
  EXPECT_EQ(chosen("1c", "5-6"), "5");
  EXPECT_EQ(chosen("1s", "10-13"), "10-13");
  EXPECT_EQ(chosen("2s", "10-13"), "too few sockets");
  EXPECT_EQ(chosen("1t@1", "0-3,8"), "1,3");
}

TEST_F(Subset, WithoutATopology) {
  EXPECT_EQ(chosen("2c", "1-3"), "1-2");
  EXPECT_EQ(chosen("1s,1d,1n,1ll,1c@2", "1-3"), "3");
  EXPECT_EQ(chosen("2t", "1-3"), "too few hardware threads");
  EXPECT_EQ(chosen("1c:intel_core", "1-3"), "too few cores");
  EXPECT_EQ(chosen("1c:eff0", "1-3"), "1");
  EXPECT_EQ(chosen("1c:eff1", "1-3"), "too few cores");
}

TEST_F(Subset, KindsOfCores) {
  make(1);
  write_device("cpu_core/cpus", "0-3,8-11");
  write_device("cpu_atom/cpus", "4-7,12-15");
  EXPECT_EQ(chosen("*c:intel_core", "0-15"), "0-3,8-11");
  EXPECT_EQ(chosen("1c:intel_core@1,1c:intel_atom,1t", "0-15"), "2,4,10,12");
  EXPECT_EQ(chosen("1s,*c:eff0", "0-15"), "4-7");
  EXPECT_EQ(chosen("3c:intel_atom", "0-15"), "too few cores");
  // Where the kernel ranks the cores itself.
  for (int cpu = 0; cpu < 16; ++cpu) {
    write("cpu/cpu" + std::to_string(cpu) + "/cpu_capacity", cpu < 2 ? "250" : cpu < 14 ? "600" : "1024");
  }
  EXPECT_EQ(chosen("*c:eff0", "0-15"), "0-1");
  EXPECT_EQ(chosen("1c:eff2", "0-15"), "14-15");
  EXPECT_EQ(chosen("1c:eff1", "0-15"), "2-3,8-9");
}

}  // namespace
