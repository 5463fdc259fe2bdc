// SPDX-License-Identifier: Apache-2.0
#include "report/command/node_watch.h"

#include <algorithm>

#include "node/segment.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

void NodeWatch::look() {
  node::NodeStatus status;
  node::Reason reason;
  if (!node::read_status(node::default_path().text, status, reason)) status.processes.clear();
  take(status.processes, Clock::now());
}

void NodeWatch::take(const std::vector<node::ProcessStatus>& seen, Clock::time_point now) {
  const double passed = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  for (const node::ProcessStatus& process : seen) {
    NodeShare& share = shares_[process.pid];
    share.share += passed * process.due;
    share.held += passed * process.held;
    share.lent += passed * process.lent;
    share.borrowed += passed * std::max(0, process.held - process.due);
    share.waited = static_cast<double>(process.waited_ns) / 1e9;
    share.others = std::max(share.others, static_cast<int>(seen.size()) - 1);
  }
}

NodeShare NodeWatch::share_of(int process) const {
  const auto found = shares_.find(process);
  return found != shares_.end() ? found->second : NodeShare();
}

std::string sharing_text(const NodeShare& share) {
  if (share.others == 0) return {};
  std::string text = format(
      "It shared the node with up to %d other process%s: its share was %s of CPU time, of which it lent %s, and it had "
      "%s of theirs.",
      share.others, share.others == 1 ? "" : "es", seconds_text(share.share).c_str(), seconds_text(share.lent).c_str(),
      seconds_text(share.borrowed).c_str());
  if (share.waited >= 0.001)
    text += format(" For %s it had less than its share and wanted more.", seconds_text(share.waited).c_str());
  return text;
}

}  // namespace weft::tools::report
