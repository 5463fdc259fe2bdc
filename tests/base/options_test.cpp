// SPDX-License-Identifier: Apache-2.0
#include "base/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using weft::base::Balance;
using weft::base::DisplayEnv;
using weft::base::LoopSchedule;
using weft::base::Mode;
using weft::base::Numa;
using weft::base::Options;
using weft::base::TargetOffload;
using weft::base::ThreadList;
using weft::base::TriState;
using weft::base::WaitPolicy;

struct Parsed {
  Options options;
  std::string warnings;
};

Parsed parse(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  testing::internal::CaptureStderr();
  Parsed parsed{weft::base::parse(environment.data()), {}};
  parsed.warnings = testing::internal::GetCapturedStderr();
  return parsed;
}

// Where the value is good, nothing is said.
Options good(const char* setting) {
  Parsed parsed = parse({setting});
  EXPECT_EQ(parsed.warnings, "") << setting;
  return parsed.options;
}

// Where it is not, one line names the variable.
Options bad(const char* setting) {
  Parsed parsed = parse({setting});
  const std::string name(setting, std::string(setting).find('='));
  EXPECT_NE(parsed.warnings.find(name), std::string::npos) << setting;
  EXPECT_EQ(parsed.warnings.find('\n'), parsed.warnings.size() - 1) << setting;
  return parsed.options;
}

std::vector<int> values(const ThreadList& list) { return {list.values, list.values + list.count}; }

TEST(Options, NothingSet) {
  const Parsed parsed = parse({});
  EXPECT_EQ(parsed.warnings, "");
  EXPECT_EQ(parsed.options.num_threads.count, 0);
  EXPECT_EQ(parsed.options.run_schedule.kind, LoopSchedule::Kind::dynamic);
  EXPECT_EQ(parsed.options.stack_size.bytes, 0);
  EXPECT_EQ(parsed.options.wait_policy, WaitPolicy::unset);
}

TEST(Options, TheEnvironmentOverridesWhatTheProgramBrings) {
  const char defaults[] = "WEFT_NUM_CPUS=3\0OMP_SCHEDULE=guided,5\0";
  const char* const environment[] = {"WEFT_NUM_CPUS=2", "OMP_SCHEDULE= ", nullptr};
  const Options options = weft::base::parse(environment, defaults);
  EXPECT_EQ(options.num_cpus, 2);
  EXPECT_EQ(options.run_schedule.kind, LoopSchedule::Kind::guided);
  EXPECT_EQ(options.run_schedule.chunk, 5);
  EXPECT_EQ(options.spin_us, -1);
}

TEST(Options, Judge) {
  using weft::base::Verdict;
  EXPECT_EQ(weft::base::judge("WEFT_NUM_CPUS", "3"), Verdict::good);
  EXPECT_EQ(weft::base::judge("WEFT_NUM_CPUS", "0"), Verdict::bad_value);
  EXPECT_EQ(weft::base::judge("OMP_SCHEDULE", "guided,"), Verdict::bad_value);
  EXPECT_EQ(weft::base::judge("WEFT_MODE", "counting"), Verdict::good);
  EXPECT_EQ(weft::base::judge("OMP_PLACES", "cores"), Verdict::good);
  EXPECT_EQ(weft::base::judge("WEFT_NUM_CPU", "3"), Verdict::no_such_variable);
}

TEST(Options, EmptyIsAsUnset) {
  EXPECT_EQ(good("OMP_NUM_THREADS=").num_threads.count, 0);
  EXPECT_EQ(good("OMP_STACKSIZE= \t").stack_size.bytes, 0);
  EXPECT_EQ(good("OMP_PROC_BIND=").proc_bind.count, 0);
  EXPECT_EQ(good("OMP_PLACES= ").places.value, nullptr);
}

TEST(Options, ListsOfThreads) {
  EXPECT_EQ(values(good("OMP_NUM_THREADS=8").num_threads), (std::vector<int>{8}));
  EXPECT_EQ(values(good("OMP_NUM_THREADS= 8 ,4,1 ").num_threads), (std::vector<int>{8, 4, 1}));
  EXPECT_EQ(values(good("OMP_NUM_THREADS=32768").num_threads), (std::vector<int>{32768}));
  const Options most = good("OMP_NUM_THREADS=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16");
  EXPECT_EQ(most.num_threads.count, ThreadList::kMost);
  for (const char* setting :
       {"OMP_NUM_THREADS=0", "OMP_NUM_THREADS=-1", "OMP_NUM_THREADS=32769", "OMP_NUM_THREADS=4,", "OMP_NUM_THREADS=,4",
        "OMP_NUM_THREADS=4 3", "OMP_NUM_THREADS=0x10", "OMP_NUM_THREADS=99999999999999999999",
        "OMP_NUM_THREADS=1,2,3,4,5,6,7,8,9,10,11,12,13,"
        "14,15,16,17"}) {
    EXPECT_EQ(bad(setting).num_threads.count, 0) << setting;
  }
}

TEST(Options, Schedules) {
  struct Case {
    const char* text;
    LoopSchedule::Kind kind;
    bool monotonic;
    int chunk;
  };
  using Kind = LoopSchedule::Kind;
  for (const Case& wanted :
       {Case{"OMP_SCHEDULE=static", Kind::static_, false, 0}, Case{"OMP_SCHEDULE=STATIC,5", Kind::static_, false, 5},
        Case{"OMP_SCHEDULE=dynamic", Kind::dynamic, false, 1},
        Case{"OMP_SCHEDULE=monotonic:dynamic , 7", Kind::dynamic, true, 7},
        Case{"OMP_SCHEDULE=nonmonotonic : guided,2147483647", Kind::guided, false, 2147483647},
        Case{"OMP_SCHEDULE=auto", Kind::auto_, false, 1}}) {
    const LoopSchedule schedule = good(wanted.text).run_schedule;
    EXPECT_EQ(schedule.kind, wanted.kind) << wanted.text;
    EXPECT_EQ(schedule.monotonic, wanted.monotonic) << wanted.text;
    EXPECT_EQ(schedule.chunk, wanted.chunk) << wanted.text;
  }
  for (const char* setting :
       {"OMP_SCHEDULE=statically", "OMP_SCHEDULE=dynamic,0", "OMP_SCHEDULE=dynamic,", "OMP_SCHEDULE=monotonic",
        "OMP_SCHEDULE=random:dynamic", "OMP_SCHEDULE=dynamic,2147483648", "OMP_SCHEDULE=static 4"}) {
    const LoopSchedule schedule = bad(setting).run_schedule;
    EXPECT_EQ(schedule.kind, Kind::dynamic) << setting;
    EXPECT_EQ(schedule.chunk, 1) << setting;
  }
}

TEST(Options, StackSizes) {
  EXPECT_EQ(good("OMP_STACKSIZE=1024").stack_size.bytes, 1024L << 10);
  EXPECT_EQ(good("OMP_STACKSIZE=65536b").stack_size.bytes, 65536);
  EXPECT_EQ(good("OMP_STACKSIZE=64K").stack_size.bytes, 65536);
  EXPECT_EQ(good("OMP_STACKSIZE= 2 m ").stack_size.bytes, 2L << 20);
  EXPECT_EQ(good("OMP_STACKSIZE=1024G").stack_size.bytes, 1L << 40);
  for (const char* setting : {"OMP_STACKSIZE=1", "OMP_STACKSIZE=63K", "OMP_STACKSIZE=1025G", "OMP_STACKSIZE=8X",
                              "OMP_STACKSIZE=8MB", "OMP_STACKSIZE=-8M", "OMP_STACKSIZE=9223372036854775807G"}) {
    EXPECT_EQ(bad(setting).stack_size.bytes, 0) << setting;
  }
}

TEST(Options, Words) {
  EXPECT_TRUE(good("OMP_DYNAMIC=TRUE").dynamic);
  EXPECT_TRUE(good("OMP_DYNAMIC=1").dynamic);
  EXPECT_FALSE(good("OMP_DYNAMIC=off").dynamic);
  EXPECT_EQ(good("OMP_NESTED=false").nested, TriState::no);
  EXPECT_EQ(good("OMP_WAIT_POLICY=Passive").wait_policy, WaitPolicy::passive);
  EXPECT_EQ(good("OMP_TARGET_OFFLOAD=Mandatory").target_offload, TargetOffload::mandatory);
  EXPECT_EQ(good("OMP_TARGET_OFFLOAD=disabled").target_offload, TargetOffload::disabled);
  EXPECT_EQ(good("WEFT_MODE=Exclusive").mode, Mode::exclusive);
  EXPECT_EQ(good("WEFT_MODE=static").mode, Mode::static_);
  EXPECT_EQ(bad("WEFT_MODE=best").mode, Mode::dynamic);
  EXPECT_EQ(good("KMP_COMPOSABILITY=mode=exclusive").mode, Mode::exclusive);
  EXPECT_EQ(good("KMP_COMPOSABILITY= Mode = counting ").mode, Mode::counting);
  EXPECT_EQ(good("KMP_COMPOSABILITY=dynamic").mode, Mode::dynamic);
  EXPECT_EQ(bad("KMP_COMPOSABILITY=mode=static").mode, Mode::dynamic);
  EXPECT_EQ(bad("KMP_COMPOSABILITY=mode exclusive").mode, Mode::dynamic);
  EXPECT_EQ(parse({"KMP_COMPOSABILITY=mode=exclusive", "WEFT_MODE=dynamic"}).options.mode, Mode::dynamic);
  EXPECT_EQ(good("WEFT_BALANCE=Steal").balance, Balance::steal);
  EXPECT_EQ(good("WEFT_BALANCE=static").balance, Balance::static_);
  EXPECT_EQ(bad("WEFT_BALANCE=dynamic").balance, Balance::auto_);
  EXPECT_EQ(good("WEFT_NUMA=local").numa, Numa::local);
  EXPECT_EQ(bad("WEFT_NUMA=far").numa, Numa::none);
  EXPECT_EQ(good("WEFT_NUMA=interleave").numa, Numa::interleave);
  EXPECT_EQ(good("WEFT_NUMA=interleave=0-1,3").numa, Numa::interleave);
  EXPECT_EQ(good("WEFT_NUMA=preferred-many=0,1").numa, Numa::preferred_many);
  EXPECT_EQ(good("WEFT_NUMA=preferred=1").numa, Numa::preferred);
  EXPECT_EQ(bad("WEFT_NUMA=bind").numa, Numa::none);
  EXPECT_EQ(bad("WEFT_NUMA=bind=1-0").numa, Numa::none);
  EXPECT_EQ(bad("WEFT_NUMA=bind=0,").numa, Numa::none);
  EXPECT_EQ(bad("WEFT_NUMA=spread=0").numa, Numa::none);
  EXPECT_EQ(good("WEFT_GRAIN=17").grain.iterations, 17);
  EXPECT_EQ(good("WEFT_GRAIN= 17 US").grain.ns, 17000);
  EXPECT_EQ(bad("WEFT_GRAIN=17ns").grain.iterations, 0);
  EXPECT_EQ(bad("WEFT_GRAIN=0").grain.iterations, 0);
  EXPECT_EQ(bad("OMP_TARGET_OFFLOAD=never").target_offload, TargetOffload::unset);
  EXPECT_EQ(good("OMP_DISPLAY_ENV=VERBOSE").display_env, DisplayEnv::verbose);
  EXPECT_FALSE(bad("OMP_DYNAMIC=truely").dynamic);
  EXPECT_FALSE(bad("OMP_DYNAMIC=10").dynamic);
  EXPECT_EQ(bad("OMP_WAIT_POLICY=activepassive").wait_policy, WaitPolicy::unset);
  EXPECT_STREQ(good("OMP_PLACES={0:4}:2").places.value, "{0:4}:2");
}

TEST(Options, Policies) {
  using weft::base::BindList;
  using weft::base::ProcBind;
  const auto list = [](const BindList& policies) {
    return std::vector<ProcBind>(policies.values, policies.values + policies.count);
  };
  EXPECT_EQ(list(good("OMP_PROC_BIND=true").proc_bind), (std::vector<ProcBind>{ProcBind::true_}));
  EXPECT_EQ(list(good("OMP_PROC_BIND= FALSE ").proc_bind), (std::vector<ProcBind>{ProcBind::false_}));
  EXPECT_EQ(list(good("OMP_PROC_BIND=Close , spread,MASTER,primary").proc_bind),
            (std::vector<ProcBind>{ProcBind::close, ProcBind::spread, ProcBind::primary, ProcBind::primary}));
  for (const char* setting : {"OMP_PROC_BIND=near", "OMP_PROC_BIND=close,true", "OMP_PROC_BIND=true,close",
                              "OMP_PROC_BIND=close,", "OMP_PROC_BIND=close spread", "OMP_PROC_BIND=2"}) {
    EXPECT_EQ(bad(setting).proc_bind.count, 0) << setting;
  }
}

TEST(Options, NumbersAtTheirBounds) {
  EXPECT_EQ(good("OMP_MAX_ACTIVE_LEVELS=0").max_active_levels, 0);
  EXPECT_EQ(good("OMP_THREAD_LIMIT=2147483647").thread_limit, 2147483647);
  EXPECT_EQ(bad("OMP_THREAD_LIMIT=2147483648").thread_limit, 2147483647);
  EXPECT_EQ(bad("OMP_THREAD_LIMIT=0").thread_limit, 2147483647);
  EXPECT_EQ(good("WEFT_NUM_CPUS=4096").num_cpus, 4096);
  EXPECT_EQ(bad("WEFT_NUM_CPUS=4097").num_cpus, 0);
}

TEST(Options, SlipsOfTheKeyboard) {
  EXPECT_NE(parse({"OMP_NUM_THREDS=4"}).warnings.find("OMP_NUM_THREADS"), std::string::npos);
  EXPECT_NE(parse({"WEFT_STAT=1"}).warnings.find("WEFT_STATS"), std::string::npos);
  for (const char* setting : {"OMP_COMPLETELY_OTHER=1", "WEFTLESS=1", "omp_num_threads=4", "OMP_", "PATH=/bin"}) {
    EXPECT_EQ(parse({setting}).warnings, "") << setting;
  }
}

TEST(Options, TheFirstOfTwoCounts) {
  // As getenv does.
  EXPECT_EQ(values(parse({"OMP_NUM_THREADS=3", "OMP_NUM_THREADS=5"}).options.num_threads), (std::vector<int>{3}));
}

}  // namespace
