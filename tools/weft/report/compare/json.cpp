// SPDX-License-Identifier: Apache-2.0
// `weft compare --json`: the members have the names of Comparison's.
#include <nlohmann/json.hpp>

#include "report/compare/compare.h"

namespace weft::tools::report {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Spread& spread) { return {{"median", spread.median}, {"low", spread.low}, {"high", spread.high}}; }

Json to_json(const Change& change) {
  return {{"before", to_json(change.before)},
          {"after", to_json(change.after)},
          {"difference", change.difference()},
          {"clear", change.clear}};
}

Json by_loss(const std::array<Change, kLosses>& changes) {
  Json json = Json::object();
  for (size_t i = 0; i < changes.size(); ++i) json[word_of(static_cast<Loss>(i))] = to_json(changes[i]);
  return json;
}

Json to_json(const ComparedSite& site) {
  return {{"kind", word_of(site.kind)},
          {"before", site.before.empty() ? Json() : Json(site.before)},
          {"after", site.after.empty() ? Json() : Json(site.after)},
          {"wall", to_json(site.wall)},
          {"useful", to_json(site.useful)},
          {"lost", to_json(site.lost)},
          {"lost_by_reason", by_loss(site.each_lost)}};
}

Json to_json(const std::vector<ComparedAdvice>& advice) {
  Json json = Json::array();
  for (const ComparedAdvice& each : advice) {
    json.push_back({{"kind", each.kind}, {"name", each.name}, {"title", each.title}});
  }
  return json;
}

}  // namespace

std::string to_json(const Comparison& comparison) {
  Json sites = Json::array();
  for (const ComparedSite& site : comparison.sites) sites.push_back(to_json(site));
  Json factors = {{"parallel_efficiency", to_json(comparison.efficiency)}};
  factors.update(by_loss(comparison.factors));
  const Json json = {{"format", "weft compare 1"},
                     {"runs", {{"before", comparison.runs_before}, {"after", comparison.runs_after}}},
                     {"noise_known", comparison.noise_known},
                     {"seconds", to_json(comparison.seconds)},
                     {"factors", factors},
                     {"sites", sites},
                     {"advice", {{"gone", to_json(comparison.gone)}, {"new", to_json(comparison.come)}}},
                     {"notes", comparison.notes}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace weft::tools::report
