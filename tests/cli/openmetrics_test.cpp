// SPDX-License-Identifier: Apache-2.0
// What processes that really run cannot be brought to show; the rest is in openmetrics_test.py.
#include "openmetrics.h"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace weft::tools::openmetrics {
namespace {

Process process(pid_t pid, const char* command) {
  Process made;
  made.status.pid = pid;
  std::strncpy(made.status.command, command, sizeof made.status.command - 1);
  return made;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// As a process is while the rest of what it was before its exec has not been removed.
TEST(OpenMetricsTest, AProcessThatIsThereTwiceIsSaidOnce) {
  Look look;
  look.processes = {process(7, "first"), process(8, "other"), process(7, "second")};
  for (const Format format : {Format::openmetrics, Format::prometheus}) {
    const std::string text = to_text(look, format);
    EXPECT_EQ(count(text, "\nweft_process_slots_held{pid=\"7\","), 1) << text;
    EXPECT_EQ(count(text, "\nweft_process_slots_held{pid=\"8\","), 1) << text;
    EXPECT_NE(text.find("\nweft_node_processes 2\n"), std::string::npos) << text;
  }
}

TEST(OpenMetricsTest, TheLargestNumbersAreWhole) {
  Look look;
  look.processes = {process(7, "p"), process(8, "p")};
  for (Process& each : look.processes) {
    each.status.regions = UINT64_MAX;
    each.status.waited_ns = INT64_MAX;
    each.status.pending = INT64_MAX;
  }
  const std::string text = to_text(look, Format::openmetrics);
  EXPECT_NE(text.find("weft_process_regions_total{pid=\"7\",command=\"p\"} 18446744073709551615\n"), std::string::npos);
  EXPECT_NE(text.find("\nweft_node_tasks_pending 18446744073709551614\n"), std::string::npos);
}

}  // namespace
}  // namespace weft::tools::openmetrics
