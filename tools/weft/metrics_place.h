// SPDX-License-Identifier: Apache-2.0
// `weft top --openmetrics PLACE`: where the metrics go.
#pragma once

#include <string>

namespace weft::tools {

struct MetricsPlace {
  std::string file;  // empty: stdout
};

// Why the text names no place, and which ones there are; empty: it names one, which is in `place` then.
std::string parse_metrics_place(const std::string& text, MetricsPlace& place);

}  // namespace weft::tools
