// SPDX-License-Identifier: Apache-2.0
// Which events are asked for, on machines that are not there: as their kernels describe their units.
#include "numa/perf_event.h"

#include <gtest/gtest.h>

#include "made_up.h"

namespace {

using namespace weft::tools::numa;

class PerfEvents : public weft::tests::MadeUpMachine {
 protected:
  void SetUp() override {
    make_nodes({0, 1}, 2);
    kernel_->files["/proc/sys/kernel/perf_event_max_sample_rate"] = "100000\n";
  }

  void describe(const std::string& unit, const std::map<std::string, std::string>& files) {
    for (const auto& [name, text] : files) {
      kernel_->files["/sys/bus/event_source/devices/" + unit + "/" + name] = text + "\n";
    }
  }

  // As Intel's are.
  void describe_loads_and_stores() {
    describe("cpu", {{"type", "4"},
                     {"format/event", "config:0-7"},
                     {"format/umask", "config:8-15"},
                     {"format/ldlat", "config1:0-15"},
                     {"events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"},
                     {"events/mem-stores", "event=0xd0,umask=0x82"}});
  }
};

TEST_F(PerfEvents, PageFaults) {
  const auto events = page_faults(*kernel_);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].attributes.type, PERF_TYPE_SOFTWARE);
  EXPECT_EQ(events[0].attributes.config, PERF_COUNT_SW_PAGE_FAULTS);
  EXPECT_EQ(events[0].attributes.sample_freq, 4000U);
  kernel_->files["/proc/sys/kernel/perf_event_max_sample_rate"] = "500\n";
  EXPECT_EQ(page_faults(*kernel_)[0].attributes.sample_freq, 500U);
}

TEST_F(PerfEvents, NoMemorySamples) { EXPECT_TRUE(memory_samples(*kernel_).empty()); }

TEST_F(PerfEvents, LoadsAndStores) {
  describe_loads_and_stores();
  const auto events = memory_samples(*kernel_);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].attributes.type, 4U);
  EXPECT_EQ(events[0].attributes.config, 0x1cdU);
  EXPECT_EQ(events[0].attributes.config1, 3U);
  EXPECT_EQ(events[0].attributes.precise_ip, 2U);
  EXPECT_EQ(events[1].attributes.config, 0x82d0U);
  EXPECT_TRUE(events[0].source == Source::memory_sample && !events[0].leader && !events[1].leader);
}

// Since Sapphire Rapids.
TEST_F(PerfEvents, LoadsBehindALeader) {
  describe_loads_and_stores();
  describe("cpu", {{"events/mem-loads-aux", "event=0x03,umask=0x82"}});
  const auto events = memory_samples(*kernel_);
  ASSERT_EQ(events.size(), 2U);
  ASSERT_TRUE(events[0].leader);
  EXPECT_EQ(events[0].leader->config, 0x8203U);
  EXPECT_EQ(events[0].leader->type, 4U);
  EXPECT_FALSE(events[1].leader);
}

TEST_F(PerfEvents, OperationsOfAMD) {
  describe("cpu", {{"type", "4"}, {"format/event", "config:0-7,32-35"}});
  describe("ibs_op", {{"type", "11"}, {"format/cnt_ctl", "config:19"}});
  auto events = memory_samples(*kernel_);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].attributes.type, 11U);
  EXPECT_EQ(events[0].attributes.config, 1U << 19);
  EXPECT_EQ(events[0].attributes.config2, 0U);
  describe("ibs_op", {{"format/swfilt", "config2:0"}});
  events = memory_samples(*kernel_);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].attributes.config2, 1U);
}

TEST_F(PerfEvents, DescriptionsThatAreNotUnderstood) {
  for (const char* format : {"", "config", "config9:0-7", "config:x", "config:7-0", "config:60-64", "config:0-"}) {
    describe_loads_and_stores();
    describe("cpu", {{"format/umask", format}});
    EXPECT_TRUE(memory_samples(*kernel_).empty()) << format;
  }
  describe("cpu", {{"format/umask", "config:8-11,32-35"}, {"events/mem-stores", "event=0xd0,umask=0x82"}});
  const auto events = memory_samples(*kernel_);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].attributes.config, 0x8000002d0U);
}

}  // namespace
