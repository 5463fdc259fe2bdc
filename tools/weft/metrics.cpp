// SPDX-License-Identifier: Apache-2.0
#include "metrics.h"

#include <cstdio>
#include <string>

#include "base/message.h"
#include "exit_codes.h"
#include "metrics_file.h"
#include "metrics_place.h"
#include "node/status.h"
#include "openmetrics.h"
#include "platform/process.h"
#include "top/top.h"

namespace weft::tools {

namespace {

using openmetrics::Format;
using openmetrics::Look;

// Between two files. Prometheus looks every 15 to 60 seconds.
constexpr double kFileSeconds = 10;

// Looks again and again, and says once why nothing can be seen.
class Watcher {
 public:
  Look look() {
    Look look;
    node::NodeStatus status;
    node::Reason reason;
    look.readable = node::read_status(node::default_path().text, status, reason);
    if (!look.readable && said_ != reason.text) base::warn("%s", reason.text);
    said_ = look.readable ? "" : reason.text;
    for (const node::ProcessStatus& process : status.processes) {
      look.processes.push_back({process, platform::process_threads(process.pid)});
    }
    return look;
  }

  std::string text(Format format) { return openmetrics::to_text(look(), format); }

 private:
  std::string said_;
};

int write_once(const MetricsPlace& place, const Look& look) {
  const bool to_file = !place.file.empty();
  const std::string text = openmetrics::to_text(look, to_file ? Format::prometheus : Format::openmetrics);
  std::string reason;
  if (!to_file) {
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else if (!replace_file(place.file, text, reason)) {
    base::warn("top: %s", reason.c_str());
    return kFailed;
  }
  return look.readable ? 0 : kFailed;
}

}  // namespace

int export_metrics(const TopOptions& options) {
  MetricsPlace place;
  parse_metrics_place(options.openmetrics, place);
  Watcher watcher;
  if (options.once || place.file.empty()) return write_once(place, watcher.look());
  return keep_file(place.file, options.seconds > 0 ? options.seconds : kFileSeconds,
                   [&] { return watcher.text(Format::prometheus); });
}

}  // namespace weft::tools
