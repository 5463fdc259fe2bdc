// SPDX-License-Identifier: Apache-2.0
#include "metrics_place.h"

#include <string_view>

namespace weft::tools {

namespace {

constexpr std::string_view kSuffix = ".prom";
constexpr char kWanted[] = ": a file is wanted whose name ends in .prom, as node_exporter reads them, or - for stdout";

// A port, which earlier versions served. A file's name may have a colon too, but no slash stands in front of that of a
// port.
bool is_port(std::string_view text) {
  return !text.empty() && (text.find_first_not_of("0123456789") == std::string_view::npos ||
                           (text.find(':') != std::string_view::npos && text.find('/') == std::string_view::npos));
}

}  // namespace

std::string parse_metrics_place(const std::string& text, MetricsPlace& place) {
  if (text == "-") return {};
  if (text.size() > kSuffix.size() && text.ends_with(kSuffix) && !text.ends_with("/.prom")) {
    place.file = text;
    return {};
  }
  if (!is_port(text)) return text + kWanted;
  return text +
         ": weft serves no port: name a file that ends in .prom; node_exporter reads it, and where there is none, "
         "python3 -m http.server serves its folder";
}

}  // namespace weft::tools
