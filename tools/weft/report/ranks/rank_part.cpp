// SPDX-License-Identifier: Apache-2.0
#include "report/ranks/rank_part.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace weft::tools {

using Json = nlohmann::json;

std::string to_text(const RankPart& part) {
  const Json head = {{"rank", part.rank},         {"exit_code", part.exit_code}, {"why", part.why},
                     {"is_early", part.is_early}, {"program", part.program},     {"host", part.host},
                     {"cpus", part.cpus},         {"began", part.began}};
  return head.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" + part.report;
}

std::optional<RankPart> part_of(const std::string& text) {
  const size_t line = std::min(text.find('\n'), text.size());
  const Json head = Json::parse(text.substr(0, line), nullptr, false);
  try {
    RankPart part;
    part.rank = head.at("rank");
    part.exit_code = head.at("exit_code");
    part.why = head.at("why");
    part.is_early = head.at("is_early");
    part.program = head.at("program");
    part.host = head.at("host");
    part.cpus = head.at("cpus");
    part.began = head.at("began");
    part.report = line < text.size() ? text.substr(line + 1) : "";
    return part;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace weft::tools
