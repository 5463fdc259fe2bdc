// SPDX-License-Identifier: Apache-2.0
// docs/how-to/numa.md describes the members.
#include <nlohmann/json.hpp>

#include "numa/report.h"

namespace weft::tools::numa {

namespace {

using Json = nlohmann::ordered_json;

std::string node_name(int node) { return node < 0 ? "untouched" : std::to_string(node); }

Json to_json(const Shares& shares) {
  Json json = Json::object();
  for (const auto& [node, share] : shares) json[node_name(node)] = share;
  return json;
}

const char* word_of(Means means) {
  switch (means) {
    case Means::none: return "none";
    case Means::kernel: return "page_faults";
    case Means::protection: return "protection";
  }
  return "none";
}

Json strip(const std::array<int, kStrip>& nodes) { return Json(std::vector<int>(nodes.begin(), nodes.end())); }

Json reason(const std::string& text) { return text.empty() ? Json() : Json(text); }

// Of a page fault that nobody has planned it is not known whether it is a write.
Json to_json(const ArrayRow& row, bool knows_writes) {
  Json json = {
      {"site", row.name},
      {"function", row.function},
      {"stack", row.stack},
      {"how", row.how},
      {"bytes", row.bytes},
      {"instances", row.instances},
      {"live", row.live},
      {"policy", row.policy},
      {"verdict", word_of(row.verdict)},
      {"fault", is_fault(row)},
      {"text", row.text},
      {"pages", row.pages_known ? to_json(row.pages) : Json()},
      {"first_touch", {{"nodes", to_json(row.first_touch)}, {"threads", row.first_threads}, {"at", row.first_line}}},
      {"use",
       {{"nodes", to_json(row.use)},
        {"touches", row.touches},
        {"writes", knows_writes ? Json(row.writes) : Json()},
        {"at", row.use_line}}},
      {"remote", row.remote},
      {"misplaced", row.misplaced},
      {"shared", row.shared},
      {"moved", row.moved},
      {"static_schedule_remote", row.expected_remote >= 0 ? Json(row.expected_remote) : Json()},
      {"modelled", row.modelled},
      {"strips", {{"pages", strip(row.lies)}, {"use", strip(row.used)}, {"static_schedule", strip(row.expected)}}}};
  return json;
}

Json to_json(const Report& report) {
  const Recorded& recorded = report.evidence->recorded;
  Json arrays = Json::array();
  const bool knows_writes = report.evidence->means == Means::protection || report.evidence->samples > 0;
  for (const ArrayRow& row : report.arrays) arrays.push_back(to_json(row, knows_writes));
  Json mappings = Json::array();
  for (const MappingRow& row : report.mappings) {
    Json nodes = Json::object();
    for (const auto& [node, bytes] : row.bytes) nodes[node_name(node)] = bytes;
    mappings.push_back({{"kind", row.kind}, {"bytes", row.sum}, {"policy", row.policy}, {"nodes", nodes}});
  }
  Json threads = Json::array();
  for (const Thread& thread : report.threads) {
    threads.push_back({{"tid", thread.number},
                       {"name", thread.name},
                       {"cpus", thread.cpus},
                       {"node", thread.node >= 0 ? Json(thread.node) : Json()},
                       {"last_cpu", thread.last_cpu}});
  }
  return {{"pid", report.pid},
          {"command", report.command},
          {"seconds", report.seconds},
          {"nodes", report.nodes},
          {"arrays", arrays},
          {"mappings", mappings},
          {"threads", threads},
          {"balancing",
           {{"known", report.balancing.known},
            {"enabled", report.balancing.enabled},
            {"pages_migrated", report.balancing.migrated},
            {"hint_faults", report.balancing.hint_faults}}},
          {"collected",
           {{"arrays", recorded.allocated},
            {"lost", recorded.lost},
            {"left_out", recorded.left_out},
            {"means", word_of(report.evidence->means)},
            {"sources", sources_of(*report.evidence)},
            {"memory_samples", report.evidence->samples},
            {"why_no_page_faults", reason(report.evidence->why_no_faults)},
            {"why_no_memory_samples", reason(report.evidence->why_no_samples)},
            {"touches", recorded.touches.size()},
            {"rounds", recorded.rounds},
            {"seconds", static_cast<double>(recorded.spent) * 1e-9}}},
          {"notes", report.notes}};
}

}  // namespace

std::string to_json(const std::vector<Report>& reports) {
  Json processes = Json::array();
  for (const Report& report : reports) processes.push_back(to_json(report));
  return Json({{"version", 1}, {"processes", processes}}).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace weft::tools::numa
