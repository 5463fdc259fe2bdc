// SPDX-License-Identifier: Apache-2.0
#include "node_rows.h"

#include <cstdio>

#include "base/message.h"
#include "platform/process.h"

namespace weft::tools {

namespace {

using Json = nlohmann::ordered_json;

// The command's name is the other process's choice.
std::string printable(const char* text) {
  std::string out = text;
  for (char& c : out) c = c >= ' ' && c <= '~' ? c : '?';
  return out;
}

}  // namespace

bool read_node(node::NodeStatus& status) {
  node::Reason reason;
  if (node::read_status(node::default_path().text, status, reason)) return true;
  base::warn("%s", reason.text);
  return false;
}

std::string summary_of(const node::NodeStatus& status) {
  int held = 0;
  for (const node::ProcessStatus& process : status.processes) held += process.held;
  const size_t count = status.processes.size();
  return std::to_string(count) + (count == 1 ? " process shares" : " processes share") + " the CPUs of this node; " +
         std::to_string(held) + (held == 1 ? " slot is held" : " slots are held");
}

const char* const kNobodyShares = "no process shares the CPUs of this node (weft run --node, WEFT_NODE=1)";

std::string row_of(const node::ProcessStatus& process) {
  char pending[24] = "-";
  char silent[24] = "-";
  if (process.pending > 0) {
    std::snprintf(pending, sizeof pending, "%lld", static_cast<long long>(process.pending));
    std::snprintf(silent, sizeof silent, "%.1fs", in_seconds(process.silent_ns));
  }
  char text[200];
  std::snprintf(text, sizeof text, "%8d %-16.16s %-9s %6d %5d %6d %5d %7d %7s %8s", process.pid,
                printable(process.command).c_str(), printable(process.mode).c_str(), process.weight, process.held,
                process.wanted, process.lent, platform::process_threads(process.pid), pending, silent);
  return text;
}

const char* const kRowTitles = "     PID COMMAND          MODE      WEIGHT SLOTS WANTED  LENT THREADS PENDING   SILENT";

Json json_of(const node::ProcessStatus& process) {
  return {{"pid", process.pid},
          {"command", process.command},
          {"mode", process.mode},
          {"weight", process.weight},
          {"cpus", cpu_list_of(process)},
          {"slots", {{"held", process.held}, {"wanted", process.wanted}, {"lent", process.lent}}},
          {"threads", platform::process_threads(process.pid)},
          {"messages", {{"pending", process.pending}, {"silent_seconds", in_seconds(process.silent_ns)}}},
          {"regions", process.regions},
          {"regions_running", process.running >= 0 ? Json(process.running) : Json()},
          {"waited_seconds", in_seconds(process.waited_ns)},
          {"given", process.given},
          {"received", process.received}};
}

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n'; }

std::string cpu_list_of(const node::ProcessStatus& process) {
  const platform::CpuSet& cpus = process.cpus;
  std::string text(platform::format_cpu_list(cpus, nullptr, 0), ' ');
  platform::format_cpu_list(cpus, text.data(), text.size() + 1);
  return text;
}

double in_seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace weft::tools
