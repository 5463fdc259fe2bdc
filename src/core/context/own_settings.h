// SPDX-License-Identifier: Apache-2.0
// What a member has set for itself where the kernel keeps it by OS thread: whichever OS thread runs the member at the
// moment runs others too, so it does not get that. The record is what the member is told when it asks.
#pragma once

#include "platform/cpu_set.h"

namespace weft::core {

struct OwnSettings {
  bool has_cpus = false;
  bool has_scheduling = false;
  bool has_nice = false;
  bool has_slack = false;
  platform::CpuSet cpus;
  int policy = 0;
  int priority = 0;
  int nice = 0;
  unsigned long slack_ns = 0;
};

}  // namespace weft::core
