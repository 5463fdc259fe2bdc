// SPDX-License-Identifier: Apache-2.0
#include "node.h"

#include <cstdio>

#include "base/message.h"
#include "exit_codes.h"
#include "node/status.h"
#include "node_rows.h"
#include "report_file.h"

namespace weft::tools {

namespace {

using Json = nlohmann::ordered_json;

void print_status(const node::NodeStatus& status) {
  if (status.slots_freed > 0) std::printf("slots of killed processes freed: %d\n", status.slots_freed);
  if (status.processes.empty()) {
    std::printf("%s\n", kNobodyShares);
    return;
  }
  std::printf("%s\n%s       REGIONS  WAITED CPUS\n", summary_of(status).c_str(), kRowTitles);
  for (const node::ProcessStatus& process : status.processes) {
    std::printf("%s %13llu %6.1fs %s\n", row_of(process).c_str(), static_cast<unsigned long long>(process.regions),
                in_seconds(process.waited_ns), cpu_list_of(process).c_str());
  }
}

}  // namespace

int node_status(const std::string& json) {
  ReportFile file("node status", "--json", json);
  node::NodeStatus status;
  if (!file.good() || !read_node(status)) return kFailed;
  if (json != "-") print_status(status);
  if (json.empty()) return 0;
  Json processes = Json::array();
  for (const node::ProcessStatus& process : status.processes) processes.push_back(json_of(process));
  const Json all = {
      {"segment", node::default_path().text}, {"slots_freed", status.slots_freed}, {"processes", processes}};
  return file.write(text_of(all)) ? 0 : kFailed;
}

int node_reset(bool force) {
  node::Reason reason;
  int live = 0;
  const node::Path path = node::default_path();
  switch (node::reset(path.text, force, live, reason)) {
    case node::Reset::nothing: std::printf("there is nothing to remove\n"); return 0;
    case node::Reset::removed:
      std::printf("%s is removed", path.text);
      if (live > 0) std::printf("; the %d that shared it go on alone", live);
      std::printf("\n");
      return 0;
    case node::Reset::refused:
      if (reason.text[0] != '\0') {
        base::warn("%s", reason.text);
        return kFailed;
      }
      base::warn("%s is in use by %d (weft node status); --force removes it, and they go on alone", path.text, live);
      return kFailed;
    case node::Reset::failed: base::warn("%s", reason.text); return kFailed;
  }
  return kFailed;
}

}  // namespace weft::tools
