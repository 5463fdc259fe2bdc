// SPDX-License-Identifier: Apache-2.0
// The processes that share the node, as `weft top` shows them: what has happened between two looks.
#pragma once

#include <string>
#include <vector>

#include "node_rows.h"

namespace weft::tools {

std::vector<std::string> node_lines(const node::NodeStatus& now, const node::NodeStatus& before, double seconds);

nlohmann::ordered_json json_of_node(const node::NodeStatus& now, const node::NodeStatus& before, double seconds);

}  // namespace weft::tools
