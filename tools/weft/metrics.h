// SPDX-License-Identifier: Apache-2.0
// `weft top --openmetrics`.
#pragma once

namespace weft::tools {

struct TopOptions;

// Sends what there is to see of the node to the place that `options.openmetrics` names; returns the exit code.
int export_metrics(const TopOptions& options);

}  // namespace weft::tools
