// SPDX-License-Identifier: Apache-2.0
// The processes that share a node, in the text formats that Prometheus and others read.
#pragma once

#include <string>
#include <vector>

#include "node/status.h"

namespace weft::tools::openmetrics {

enum class Format {
  openmetrics,  // OpenMetrics 1.0
  prometheus,   // Prometheus' own text format 0.0.4, the only one that the files of node_exporter may have
};

struct Process {
  node::ProcessStatus status;
  int threads = 0;
};

struct Look {
  bool readable = true;  // what the processes share; else nothing is known of them
  std::vector<Process> processes;
};

std::string to_text(const Look& look, Format format);

}  // namespace weft::tools::openmetrics
