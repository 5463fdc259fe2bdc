// SPDX-License-Identifier: Apache-2.0
// Settings that a member has made for itself and that the kernel keeps per OS thread. An OS thread that runs the member
// runs others too, so it does not get them. The member gets this record when it asks for its settings.
#pragma once

#include "platform/cpu_set.h"

namespace weft::core {

struct OwnSettings {
  bool has_cpus = false;
  bool has_scheduling = false;
  bool has_nice = false;
  bool has_slack = false;
  bool has_thread_cpus = false;
  bool has_name = false;
  platform::CpuSet cpus;
  int policy = 0;
  int priority = 0;
  int nice = 0;
  unsigned long slack_ns = 0;
  char name[16] = "";  // of an identity whose OS thread is not there; that of others is the OS thread's
  // Of a root: what it has set for its own OS thread. While it runs elsewhere other members run there, which may be
  // anywhere, so the kernel's mask is not the root's then.
  platform::CpuSet thread_cpus;
};

}  // namespace weft::core
