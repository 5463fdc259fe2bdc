// SPDX-License-Identifier: Apache-2.0
#include "top/program_json.h"

#include <optional>

#include "top/program_tree.h"

namespace weft::tools {

namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

const char* word_of(RecordState state) {
  switch (state) {
    case RecordState::known: return "read";
    case RecordState::not_yet: return "no_region_yet";
    case RecordState::forbidden: return "forbidden";
    case RecordState::other_version: return "other_version";
    case RecordState::missing: break;
  }
  return "gone";
}

Json parent_of(const ListedProcess& line) { return line.parent != 0 ? Json(line.parent) : Json(); }

}  // namespace

Json json_of_programs(const ProgramRows& rows, std::string_view filter) {
  Json all = Json::array();
  for (const ListedProcess& line : tree_of(rows, TableOrder::cpu, filter)) {
    if (line.program == nullptr || !fits_filter(*line.program, filter)) continue;
    const ProgramRow& row = *line.program;
    all.push_back({{"pid", row.pid},
                   {"command", row.name},
                   {"command_line", row.command},
                   {"parent", parent_of(line)},
                   {"cpus_used", row.cpus},
                   {"cpus_allowed", row.allowed},
                   {"cpus_used_at_once", row.slots > 0 ? Json(row.slots) : Json()},
                   {"efficiency", row.efficiency()},
                   {"work", or_null(row.work)},
                   {"regions_per_second", or_null(row.regions)},
                   {"tasks_waiting", or_null(row.tasks)},
                   {"messages_pending", or_null(row.messages)},
                   {"runtime_record", word_of(row.record)},
                   {"threads", row.threads},
                   {"seconds", row.seconds}});
  }
  return all;
}

Json json_of_ancestors(const ProgramRows& rows, std::string_view filter) {
  Json all = Json::array();
  for (const ListedProcess& line : tree_of(rows, TableOrder::cpu, filter)) {
    if (line.ancestor == nullptr) continue;
    all.push_back({{"pid", line.pid},
                   {"command", line.ancestor->name},
                   {"command_line", line.ancestor->command},
                   {"parent", parent_of(line)}});
  }
  return all;
}

Json json_of_busiest(const ProgramRows& rows) {
  Json all = Json::array();
  for (const CpuUser& program : rows.busiest) all.push_back({{"command", program.name}, {"cpus_used", program.cpus}});
  return all;
}

}  // namespace weft::tools
