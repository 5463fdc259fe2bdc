// SPDX-License-Identifier: Apache-2.0
// The nodes that the recorder of `weft report` would have made of the frames of a trace, with their counts.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "observe/account/construct_tree.h"
#include "report/trace/contexts.h"

namespace weft::tools::report {

struct NodeCounts {
  uint64_t count = 0;
  uint64_t iterations = 0;
  uint64_t stolen = 0;
  uint64_t timed = 0;
  double timed_ns = 0;
  std::array<uint64_t, observe::kLengthClasses> lengths{};
};

class NodesOfTrace {
 public:
  // `in_runtime`, by place: there is no code of the program's.
  NodesOfTrace(const Trace& trace, const Contexts& contexts, const std::vector<bool>& in_runtime,
               observe::ConstructTree& nodes);

  observe::ConstructId of(int32_t frame) const { return frame < 0 ? 0 : found_[static_cast<size_t>(frame)]; }
  const NodeCounts& counts(observe::ConstructId node) const { return counts_[node]; }

 private:
  static constexpr observe::ConstructId kUnknown = ~0u;
  static constexpr observe::ConstructId kSought = kUnknown - 1;

  observe::ConstructId find(int32_t frame, int depth);
  observe::ConstructId make(const Frame& frame, int depth);
  observe::ConstructId child(observe::ConstructId parent, observe::Kind kind, uint32_t place);
  observe::ConstructId region_of(uint64_t team, int depth, bool& is_known);
  void count(const Frame& frame, observe::ConstructId node);

  const Trace& trace_;
  const std::vector<Frame>& frames_;
  const std::vector<bool>& in_runtime_;
  observe::ConstructTree& nodes_;
  std::unordered_map<uint64_t, int32_t> openers_;  // by team: the frame of its primary
  std::vector<observe::ConstructId> found_;             // by frame
  std::vector<NodeCounts> counts_;
};

}  // namespace weft::tools::report
