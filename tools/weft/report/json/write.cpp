// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "report/json/json.h"
#include "report/wording/conclusion.h"
#include "report/wording/headline.h"

namespace weft::tools::report {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no other numbers.
double finite(double value) { return std::isfinite(value) ? value : 0; }

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json to_json(const std::array<double, kLosses>& parts) {
  Json json = Json::object();
  for (int i = 0; i < kLosses; ++i) json[word_of(static_cast<Loss>(i))] = finite(parts[static_cast<size_t>(i)]);
  return json;
}

Json to_json(const Factors& factors) {
  Json json = {{"parallel_efficiency", factors.parallel_efficiency}};
  json.update(to_json(factors.each));
  return json;
}

Json to_json(const NodeShare& node) {
  return {{"others", node.others},     {"share", finite(node.share)},       {"held", finite(node.held)},
          {"lent", finite(node.lent)}, {"borrowed", finite(node.borrowed)}, {"waited", finite(node.waited)}};
}

Json to_json(const Run& run) {
  return {{"command", run.command},
          {"host", run.host},
          {"began", run.began},
          {"version", run.version},
          {"seconds", finite(run.seconds)},
          {"cpus", run.cpus},
          {"exit_code", run.exit_code},
          {"process", run.process},
          {"rank", run.rank},
          {"ranks", run.ranks},
          {"samples", run.samples},
          {"period", finite(run.period)},
          {"is_trace", run.is_trace},
          {"settings", run.settings},
          {"memory_nodes", run.memory_nodes},
          {"own_seconds", finite(run.own_seconds)},
          {"own_cpu_seconds", finite(run.own_cpu_seconds)},
          {"others_cpu", finite(run.others_cpu)},
          {"node", to_json(run.node)},
          {"memory_on_one_node", finite(run.memory_on_one_node)},
          {"deadlock", run.deadlock},
          {"stood_still", finite(run.stood_still)},
          {"notes", run.notes}};
}

Json to_json(const Report& report, int number) {
  const Site& site = report.sites[static_cast<size_t>(number)];
  const SourcePlace& place = site.place;
  Json histogram = Json::array();
  for (const double count : site.lengths.histogram) histogram.push_back(finite(count));
  Json json = {
      {"parent", site.parent},
      {"kind", word_of(site.kind)},
      {"name", site.name},
      {"place",
       {{"file", place.file},
        {"line", place.line},
        {"function", place.function},
        {"object", place.object},
        {"offset", place.offset}}},
      {"callee", site.callee},
      {"schedule", site.schedule},
      {"count", site.count},
      {"iterations", site.iterations},
      {"pieces", site.pieces},
      {"stolen", site.stolen},
      {"members", site.members},
      {"requested", site.requested},
      {"level", site.level},
      {"wall", finite(site.wall)},
      {"useful", finite(site.useful)},
      {"lost", to_json(site.lost)},
      {"lengths", {{"timed", site.lengths.timed}, {"mean", finite(site.lengths.mean)}, {"histogram", histogram}}}};
  if (!place.excerpt.lines.empty())
    json["place"]["excerpt"] = {{"first", place.excerpt.first}, {"lines", place.excerpt.lines}};
  if (site.kind == SiteKind::region) json["factors"] = to_json(factors_of(report, number));
  return json;
}

Json to_json(const std::vector<Span>& spans) {
  Json json = Json::array();
  for (const Span& span : spans) json.push_back({span.ticks, span.site, static_cast<int>(span.doing)});
  return json;
}

// A list with each of its elements on a line.
template <class List, class Element>
std::string lines(const List& list, const char* indent, Element&& element) {
  std::string text = "[";
  const char* separator = "";
  for (const auto& each : list) {
    text.append(separator).append("\n").append(indent).append(dump(element(each)));
    separator = ",";
  }
  return text + "]";
}

}  // namespace

std::string to_json(const Report& report) {
  std::vector<int> numbers(report.sites.size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
  std::string text = "{\n";
  text += "\"format\": " + dump(kFormat) + ",\n";
  text += "\"run\": " + dump(to_json(report.run)) + ",\n";
  text += "\"headline\": " + dump(headline_of(report)) + ",\n";
  text += "\"factors\": " + dump(to_json(factors_of(report))) + ",\n";
  text += "\"sites\": " + lines(numbers, "  ", [&](int number) { return to_json(report, number); }) + ",\n";
  text += "\"timeline\": {\"tick\": " + dump(finite(report.timeline.tick)) + ", \"cpus\": ";
  text += lines(report.timeline.cpus, "  ", [](const std::vector<Span>& spans) { return to_json(spans); }) + "},\n";
  text += "\"threads\": " + lines(report.threads, "  ", [](const ThreadRow& row) {
            return Json{{"name", row.name}, {"whose", row.whose}, {"cpu", finite(row.cpu)}};
          });
  text += ",\n\"messages\": " + lines(report.messages, "  ", [](const MessageRow& row) {
            return Json{{"call", row.call},
                        {"peer", row.peer},
                        {"count", row.count},
                        {"waited", finite(row.waited)},
                        {"rank", row.rank}};
          });
  text += ",\n\"ranks\": " + lines(report.ranks, "  ", [](const RankRow& row) {
            return Json{{"rank", row.rank},
                        {"host", row.host},
                        {"seconds", finite(row.seconds)},
                        {"cpus", row.cpus},
                        {"parallel_efficiency", finite(row.efficiency)},
                        {"useful", finite(row.useful)},
                        {"lost", to_json(row.lost)},
                        {"waited", finite(row.waited)},
                        {"exit_code", row.exit_code}};
          });
  text += ",\n\"advice\": " + lines(report.advice, "  ", [](const Advice& advice) {
            return Json{{"kind", advice.kind},         {"site", advice.site},     {"title", advice.title},
                        {"evidence", advice.evidence}, {"action", advice.action}, {"command", advice.command},
                        {"gain", finite(advice.gain)}};
          });
  const Conclusion conclusion = report.advice.empty() ? conclusion_of(report) : Conclusion{};
  if (!conclusion.text.empty()) {
    text += ",\n\"conclusion\": " + dump(Json{{"good", conclusion.is_good}, {"text", conclusion.text}});
  }
  return text + "\n}\n";
}

}  // namespace weft::tools::report
