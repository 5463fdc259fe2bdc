// SPDX-License-Identifier: Apache-2.0
// GET /metrics over HTTP, for this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "openmetrics.h"

namespace weft::tools {

// Answers requests at 127.0.0.1 with what `text` returns at the time, until a signal ends it. Returns the exit code.
int serve_metrics(uint16_t port, const std::function<std::string(openmetrics::Format)>& text);

}  // namespace weft::tools
