// SPDX-License-Identifier: Apache-2.0
// What a program that shares the node (--node) had of its share of the CPUs, as it is seen from outside.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "node/status.h"
#include "report/model/model.h"

namespace weft::tools::report {

class NodeWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // Looks at the node. What is seen stands for the time since the last look. Does nothing where no processes share it.
  void look();
  // The same of what was seen at `now`.
  void take(const std::vector<node::ProcessStatus>& seen, Clock::time_point now);

  // Of a process that has been seen; zeros: it has not.
  NodeShare share_of(int process) const;

 private:
  Clock::time_point last_ = Clock::now();
  std::map<int, NodeShare> shares_;
};

// For the reader; empty where it did not share the node with others.
std::string sharing_text(const NodeShare& share);

}  // namespace weft::tools::report
