// SPDX-License-Identifier: Apache-2.0
#include "metrics.h"

#include <cstdio>
#include <string>

#include "base/message.h"
#include "metrics_file.h"
#include "metrics_place.h"
#include "metrics_server.h"
#include "node.h"
#include "node/status.h"
#include "openmetrics.h"
#include "platform/process.h"

namespace weft::tools {

namespace {

using openmetrics::Format;
using openmetrics::Look;

constexpr int kFailed = 1;
constexpr int kUsage = 2;
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
  const bool to_file = place.kind == MetricsPlace::Kind::file;
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
  if (place.kind == MetricsPlace::Kind::port) {
    if (options.once || options.seconds > 0) {
      base::warn("top: --%s does not go with a port, where each request gets what there is at the time; leave it out",
                 options.once ? "once" : "interval");
      return kUsage;
    }
    return serve_metrics(place.port, [&](Format format) { return watcher.text(format); });
  }
  if (options.once || place.kind == MetricsPlace::Kind::output) return write_once(place, watcher.look());
  return keep_file(place.file, options.seconds > 0 ? options.seconds : kFileSeconds,
                   [&] { return watcher.text(Format::prometheus); });
}

}  // namespace weft::tools
