// SPDX-License-Identifier: Apache-2.0
// The segment as `weft node status` and `weft top` see it, which do not take part.
#pragma once

#include <cstdint>
#include <vector>

#include "node/segment.h"

namespace weft::node {

struct ProcessStatus {
  pid_t pid = 0;
  uint64_t membership = 0;  // another number for each process that has come
  char command[sizeof(Record::command)] = {};
  char mode[sizeof(Record::mode)] = {};
  int weight = 0;
  platform::CpuSet cpus;
  int held = 0;    // slots
  int wanted = 0;  // slots that it has or could use now
  int due = 0;     // its share of the CPUs while all want as much as they may have
  int lent = 0;    // how much of its share it does not have: others may use that
  uint64_t regions = 0;
  int running = -1;  // outermost regions in progress; -1: its mode does not count them
  int64_t waited_ns = 0;
  uint64_t given = 0;
  uint64_t received = 0;
  int64_t pending = 0;  // tasks and events that wait for messages
  int64_t silent_ns = 0;  // for how long no pending one of these has gone on
};

struct NodeStatus {
  std::vector<ProcessStatus> processes;
  int slots_freed = 0;  // of processes that were killed
};

// Reads the status. Also removes what processes have left that are certainly gone, and the file when no process is
// left. Returns false, and why in `reason`, where the segment cannot be read.
bool read_status(const char* path, NodeStatus& status, Reason& reason);

enum class Reset {
  nothing,  // there was no segment
  removed,
  refused,  // there are processes in it, or there may be, and `reason` says why that is not known; only by force
  failed,
};
// Removes the segment. With `force` even if there are processes in it: they go on alone.
Reset reset(const char* path, bool force, int& live, Reason& reason);

}  // namespace weft::node
