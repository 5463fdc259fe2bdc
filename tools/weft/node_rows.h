// SPDX-License-Identifier: Apache-2.0
// The processes that share the CPUs of this node, as `weft node status` and `weft top` show them.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "node/status.h"

namespace weft::tools {

// Warns of what cannot be read.
bool read_node(node::NodeStatus& status);

std::string summary_of(const node::NodeStatus& status);
extern const char* const kNobodyShares;

// A line for a process, below the titles of its columns.
std::string row_of(const node::ProcessStatus& process);
extern const char* const kRowTitles;

nlohmann::ordered_json json_of(const node::ProcessStatus& process);
std::string text_of(const nlohmann::ordered_json& json);

std::string cpu_list_of(const node::ProcessStatus& process);
double in_seconds(int64_t ns);

}  // namespace weft::tools
