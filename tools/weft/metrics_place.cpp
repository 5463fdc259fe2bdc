// SPDX-License-Identifier: Apache-2.0
#include "metrics_place.h"

#include <charconv>
#include <string_view>

namespace weft::tools {

namespace {

constexpr std::string_view kSuffix = ".prom";
constexpr std::string_view kHosts[] = {"", "localhost", "127.0.0.1"};

bool is_host(std::string_view text) {
  for (const std::string_view host : kHosts) {
    if (text == host) return true;
  }
  return false;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool parse_port(std::string_view text, uint16_t& port) {
  const auto [rest, fault] = std::from_chars(text.data(), text.data() + text.size(), port);
  return fault == std::errc() && rest == text.data() + text.size() && port > 0;
}

}  // namespace

std::string parse_metrics_place(const std::string& text, MetricsPlace& place) {
  if (text == "-") return {};
  if (text.size() > kSuffix.size() && text.ends_with(kSuffix) && !text.ends_with("/.prom")) {
    place.kind = MetricsPlace::Kind::file;
    place.file = text;
    return {};
  }
  if (is_number(text)) return text + ": for a port write :" + text;
  const size_t colon = text.rfind(':');
  // A file's name may have a colon too, but no slash stands in front of that of a port.
  if (colon == std::string::npos || text.find('/') != std::string::npos) {
    return text + ": a file is wanted whose name ends in .prom, as node_exporter reads them, or :PORT, or - for stdout";
  }
  const std::string_view host = std::string_view(text).substr(0, colon);
  const std::string_view port = std::string_view(text).substr(colon + 1);
  if (!is_host(host)) {
    return text + ": only this machine is served: :PORT or localhost:PORT; for others, have a proxy in front of it";
  }
  place.kind = MetricsPlace::Kind::port;
  if (!parse_port(port, place.port)) return text + ": a port is a number from 1 to 65535";
  return {};
}

}  // namespace weft::tools
