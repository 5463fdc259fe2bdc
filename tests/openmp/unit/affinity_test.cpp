// SPDX-License-Identifier: Apache-2.0
// Which variable decides, what is left out, and what is said about it.
#include "openmp/affinity/affinity.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace weft::openmp;
using weft::base::ProcBind;
using weft::platform::CpuSet;

struct Decided {
  bool on;
  std::string places;
  std::vector<ProcBind> policies;
  int first;
  bool cyclic;
  std::string said;
};

Decided decide(std::vector<const char*> environment, const char* cpus = "0-3") {
  environment.push_back(nullptr);
  testing::internal::CaptureStderr();
  const weft::base::Options options = weft::base::parse(environment.data());
  Affinity affinity = decide_affinity(options, weft::platform::parse_cpu_list(cpus), "/nonexistent");
  Decided decided{affinity.on, std::string(format_places(affinity.places, nullptr, 0), ' '), {}, affinity.first,
                  affinity.cyclic, testing::internal::GetCapturedStderr()};
  format_places(affinity.places, decided.places.data(), decided.places.size() + 1);
  for (int level = 0; level < affinity.policies.count; ++level) decided.policies.push_back(policy_at(affinity, level));
  affinity.places.free_memory();
  return decided;
}

using Policies = std::vector<ProcBind>;

void expect_off(const std::vector<const char*>& environment, const char* said = "") {
  const Decided decided = decide(environment);
  EXPECT_FALSE(decided.on) << environment[0];
  EXPECT_EQ(decided.places, "") << environment[0];
  EXPECT_NE(decided.said.find(said), std::string::npos) << decided.said;
  if (*said == '\0') {
    EXPECT_EQ(decided.said, "") << environment[0];
  }
}

TEST(Affinity, NothingAskedFor) {
  expect_off({"PATH=/bin"});
  expect_off({"OMP_PROC_BIND=false"});
  expect_off({"OMP_PROC_BIND=false", "OMP_PLACES=threads"});
  expect_off({"KMP_AFFINITY=none"});
  expect_off({"KMP_AFFINITY=granularity=fine"});
  expect_off({"OMP_DISPLAY_AFFINITY=true"});
  expect_off({"OMP_PLACES="});
}

TEST(Affinity, PoliciesAlone) {
  const Decided decided = decide({"OMP_PROC_BIND=spread,Master,close"});
  EXPECT_TRUE(decided.on);
  EXPECT_EQ(decided.places, "{0},{1},{2},{3}");
  EXPECT_EQ(decided.policies, (Policies{ProcBind::spread, ProcBind::primary, ProcBind::close}));
  EXPECT_FALSE(decided.cyclic);
  EXPECT_EQ(decided.said, "");
}

TEST(Affinity, PlacesAlone) {
  const Decided decided = decide({"OMP_PLACES={2},{0:2}"});
  EXPECT_EQ(decided.places, "{2},{0:2}");
  EXPECT_EQ(decided.policies, (Policies{ProcBind::true_}));
  EXPECT_FALSE(decided.cyclic);
}

TEST(Affinity, TheLastPolicyHoldsForDeeperLevels) {
  Affinity affinity;
  affinity.on = true;
  affinity.policies = {{ProcBind::spread, ProcBind::close}, 2};
  EXPECT_EQ(policy_at(affinity, 0), ProcBind::spread);
  EXPECT_EQ(policy_at(affinity, 1), ProcBind::close);
  EXPECT_EQ(policy_at(affinity, 9), ProcBind::close);
  affinity.on = false;
  EXPECT_EQ(policy_at(affinity, 0), ProcBind::false_);
}

TEST(Affinity, WhichVariableDecides) {
  Decided decided = decide({"GOMP_CPU_AFFINITY=3 0-1"});
  EXPECT_EQ(decided.places, "{3},{0},{1}");
  EXPECT_TRUE(decided.cyclic);
  decided = decide({"GOMP_CPU_AFFINITY=3 0-1", "OMP_PROC_BIND=spread"});
  EXPECT_EQ(decided.places, "{3},{0},{1}");
  EXPECT_EQ(decided.policies, (Policies{ProcBind::spread}));
  EXPECT_EQ(decided.said, "");
  decided = decide({"GOMP_CPU_AFFINITY=3 0-1", "OMP_PLACES={2}"});
  EXPECT_EQ(decided.places, "{2}");
  EXPECT_NE(decided.said.find("GOMP_CPU_AFFINITY is ignored, since OMP_PLACES"), std::string::npos);
  expect_off({"GOMP_CPU_AFFINITY=3", "OMP_PROC_BIND=false"}, "GOMP_CPU_AFFINITY is ignored");
  decided = decide({"KMP_AFFINITY=explicit,proclist=[1,2],0,1", "OMP_PLACES={0}", "OMP_PROC_BIND=false"});
  EXPECT_EQ(decided.places, "{1},{2}");
  EXPECT_EQ(decided.first, 1);
  EXPECT_TRUE(decided.cyclic);
  EXPECT_NE(decided.said.find("OMP_PLACES is ignored"), std::string::npos);
  EXPECT_NE(decided.said.find("OMP_PROC_BIND is ignored"), std::string::npos);
  expect_off({"KMP_AFFINITY=disabled", "OMP_PROC_BIND=true"}, "OMP_PROC_BIND is ignored");
}

TEST(Affinity, WhatCannotBeUsed) {
  expect_off({"OMP_PLACES=stars"}, "OMP_PLACES=stars");
  expect_off({"OMP_PLACES={7}"}, "no place is left");
  expect_off({"KMP_AFFINITY=near"}, "KMP_AFFINITY=near");
  Decided decided = decide({"OMP_PLACES=stars", "OMP_PROC_BIND=close"});
  EXPECT_EQ(decided.places, "{0},{1},{2},{3}");
  decided = decide({"OMP_PLACES=stars", "GOMP_CPU_AFFINITY=1"});
  EXPECT_EQ(decided.places, "{1}");
  decided = decide({"OMP_PLACES={7}", "GOMP_CPU_AFFINITY=1"});
  EXPECT_EQ(decided.places, "{1}");
  decided = decide({"OMP_PLACES={0:6},{5},{1}"});
  EXPECT_EQ(decided.places, "{0:4},{1}");
  EXPECT_NE(decided.said.find("CPU 4-5"), std::string::npos);
  EXPECT_NE(decided.said.find("0-3"), std::string::npos);
}

// Without a topology each CPU is a core, and all are in one socket.
TEST(Affinity, PartOfTheMachine) {
  Decided decided = decide({"KMP_HW_SUBSET=2c@1"});
  EXPECT_TRUE(decided.on);
  EXPECT_EQ(decided.places, "{1:2}");
  EXPECT_EQ(decided.policies, (Policies{ProcBind::false_}));
  EXPECT_EQ(decided.said, "");
  for (const char* unbound : {"OMP_PROC_BIND=false", "KMP_AFFINITY=none"}) {
    decided = decide({"KMP_HW_SUBSET=2c@1", unbound});
    EXPECT_EQ(decided.places, "{1:2}") << unbound;
    EXPECT_EQ(decided.policies, (Policies{ProcBind::false_})) << unbound;
  }
  for (const char* bound : {"OMP_PROC_BIND=true", "OMP_PLACES=cores", "KMP_AFFINITY=compact"}) {
    decided = decide({"KMP_HW_SUBSET=2c@1", bound});
    EXPECT_EQ(decided.places, "{1},{2}") << bound;
    EXPECT_EQ(decided.policies, (Policies{ProcBind::true_})) << bound;
    EXPECT_EQ(decided.said, "") << bound;
  }
  decided = decide({"KMP_HW_SUBSET=2c@1", "OMP_PLACES={0:4}"});
  EXPECT_EQ(decided.places, "{1:2}");
  EXPECT_NE(decided.said.find("CPU 0,3"), std::string::npos) << decided.said;
  expect_off({"KMP_HW_SUBSET=5c"}, "more cores than this process may use (CPU 0-3");
  expect_off({"KMP_HW_SUBSET=4q"}, "KMP_HW_SUBSET=4q is not");
}

TEST(Affinity, OneCpu) {
  for (const char* setting : {"OMP_PLACES=threads", "OMP_PLACES=cores", "OMP_PLACES=sockets", "OMP_PLACES=ll_caches",
                              "OMP_PLACES=numa_domains", "OMP_PROC_BIND=spread", "KMP_AFFINITY=scatter,7,3",
                              "KMP_AFFINITY=balanced", "GOMP_CPU_AFFINITY=5"}) {
    const Decided decided = decide({setting}, "5");
    EXPECT_EQ(decided.places, "{5}") << setting;
    EXPECT_EQ(decided.first, 0) << setting;
    EXPECT_EQ(decided.said, "") << setting;
  }
}

}  // namespace
