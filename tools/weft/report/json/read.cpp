// SPDX-License-Identifier: Apache-2.0
// A file may come from anywhere: each value is looked at before it is used, and what is wrong is named by its place in
// the file. Members that are not known are left out, so that later versions may add some.
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "report/json/json.h"

namespace weft::tools::report {

namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& place, const std::string& wanted) {
  throw std::runtime_error("not a complete report of weft: " + place + ": " + wanted);
}

// A value, and where it stands.
class Value {
 public:
  Value(const Json& json, std::string place) : json_(json), place_(std::move(place)) {}

  bool has(const char* name) const { return object().contains(name); }
  Value operator[](const char* name) const {
    const auto found = object().find(name);
    const std::string place = place_.empty() ? name : place_ + "." + name;
    if (found == json_.end()) refuse(place, "is missing");
    return {*found, place};
  }

  template <class Visit>
  void each(Visit&& visit) const {
    if (!json_.is_array()) refuse(place_, "a list is wanted");
    size_t number = 0;
    for (const Json& element : json_) visit(Value(element, place_ + "[" + std::to_string(number++) + "]"));
  }
  template <class Visit>
  void each_member(Visit&& visit) const {
    for (const auto& [name, value] : object().items()) visit(name, Value(value, place_ + "." + name));
  }

  void read(std::string& into) const {
    if (!json_.is_string()) refuse(place_, "a text is wanted");
    into = json_.get<std::string>();
  }
  void read(double& into) const {
    if (!json_.is_number()) refuse(place_, "a number is wanted");
    into = json_.get<double>();
    if (!std::isfinite(into)) refuse(place_, "a number is wanted");
  }
  void read(bool& into) const {
    if (!json_.is_boolean()) refuse(place_, "true or false is wanted");
    into = json_.get<bool>();
  }
  template <class Integer>
    requires std::is_integral_v<Integer>
  void read(Integer& into) const {
    if (!json_.is_number_integer()) refuse(place_, "an integer is wanted");
    // Written as unsigned where it is not negative.
    const bool fits = json_.is_number_unsigned() ? std::in_range<Integer>(json_.get<uint64_t>())
                                                 : std::in_range<Integer>(json_.get<int64_t>());
    if (!fits) refuse(place_, "the number " + json_.dump() + " is out of range");
    into = json_.get<Integer>();
  }
  void read(std::vector<std::string>& into) const {
    each([&](const Value& value) { value.read(into.emplace_back()); });
  }
  // What is not there keeps its value.
  template <class Into>
  void read(const char* name, Into& into) const {
    if (has(name)) (*this)[name].read(into);
  }

  const std::string& place() const { return place_; }

 private:
  const Json& object() const {
    if (!json_.is_object()) refuse(place_.empty() ? "the file" : place_, "an object is wanted");
    return json_;
  }

  const Json& json_;
  const std::string place_;
};

SiteKind kind_of(const Value& value) {
  std::string word;
  value.read(word);
  const int number = observe::number_of_word(observe::kKindWords, word);
  if (number >= 0) return static_cast<SiteKind>(number);
  refuse(value.place(), "\"" + word + "\" is no kind of site that is known here");
}

void read_node(const Value& value, NodeShare& node) {
  value.read("others", node.others);
  value.read("share", node.share);
  value.read("held", node.held);
  value.read("lent", node.lent);
  value.read("borrowed", node.borrowed);
  value.read("waited", node.waited);
}

void read_run(const Value& value, Run& run) {
  value["seconds"].read(run.seconds);
  value["cpus"].read(run.cpus);
  if (run.seconds < 0) refuse(value.place() + ".seconds", "is negative");
  if (run.cpus < 1) refuse(value.place() + ".cpus", "one CPU at least is wanted");
  value.read("command", run.command);
  value.read("host", run.host);
  value.read("began", run.began);
  value.read("version", run.version);
  value.read("exit_code", run.exit_code);
  value.read("process", run.process);
  value.read("rank", run.rank);
  value.read("ranks", run.ranks);
  value.read("samples", run.samples);
  value.read("period", run.period);
  value.read("is_trace", run.is_trace);
  if (value.has("settings")) {
    value["settings"].each_member(
        [&](const std::string& name, const Value& setting) { setting.read(run.settings[name]); });
  }
  value.read("memory_nodes", run.memory_nodes);
  value.read("memory_on_one_node", run.memory_on_one_node);
  value.read("own_seconds", run.own_seconds);
  value.read("own_cpu_seconds", run.own_cpu_seconds);
  value.read("others_cpu", run.others_cpu);
  if (value.has("node")) read_node(value["node"], run.node);
  value.read("deadlock", run.deadlock);
  value.read("stood_still", run.stood_still);
  value.read("notes", run.notes);
}

void read_lengths(const Value& value, Lengths& lengths) {
  value.read("timed", lengths.timed);
  value.read("mean", lengths.mean);
  if (!value.has("histogram")) return;
  size_t number = 0;
  value["histogram"].each([&](const Value& element) {
    if (number == lengths.histogram.size()) refuse(element.place(), "is one too many");
    element.read(lengths.histogram[number++]);
  });
}

void read_lost(const Value& value, std::array<double, kLosses>& into) {
  if (!value.has("lost")) return;
  const Value lost = value["lost"];
  for (int i = 0; i < kLosses; ++i) lost.read(word_of(static_cast<Loss>(i)), into[static_cast<size_t>(i)]);
}

void read_site(const Value& value, Site& site) {
  site.kind = kind_of(value["kind"]);
  value.read("parent", site.parent);
  value.read("name", site.name);
  if (value.has("place")) {
    const Value place = value["place"];
    place.read("file", site.place.file);
    place.read("line", site.place.line);
    place.read("function", site.place.function);
    place.read("object", site.place.object);
    place.read("offset", site.place.offset);
    if (place.has("excerpt")) {
      place["excerpt"].read("first", site.place.excerpt.first);
      place["excerpt"].read("lines", site.place.excerpt.lines);
    }
  }
  value.read("callee", site.callee);
  value.read("schedule", site.schedule);
  value.read("count", site.count);
  value.read("iterations", site.iterations);
  value.read("pieces", site.pieces);
  value.read("stolen", site.stolen);
  value.read("members", site.members);
  value.read("requested", site.requested);
  value.read("level", site.level);
  value.read("wall", site.wall);
  value.read("useful", site.useful);
  read_lost(value, site.lost);
  if (value.has("lengths")) read_lengths(value["lengths"], site.lengths);
}

// Checks that a walk from a site to its parents comes to an end.
void check_parents(const std::vector<Site>& sites) {
  const int count = static_cast<int>(sites.size());
  std::vector<int> seen_from(sites.size(), 0);
  for (int start = 1; start < count; ++start) {
    for (int site = start; site > 0 && seen_from[static_cast<size_t>(site)] != -1;) {
      const std::string place = "sites[" + std::to_string(site) + "].parent";
      if (seen_from[static_cast<size_t>(site)] == start) refuse(place, "the site is its own ancestor");
      seen_from[static_cast<size_t>(site)] = start;
      site = sites[static_cast<size_t>(site)].parent;
      if (site < -1 || site >= count) refuse(place, "there is no site " + std::to_string(site));
    }
    for (int site = start; site > 0 && seen_from[static_cast<size_t>(site)] != -1;) {
      seen_from[static_cast<size_t>(site)] = -1;
      site = sites[static_cast<size_t>(site)].parent;
    }
  }
}

void read_site_number(const Value& value, const Report& report, int& into) {
  value.read(into);
  if (into < 0 || into >= static_cast<int>(report.sites.size())) {
    refuse(value.place(), "there is no site " + std::to_string(into));
  }
}

Span read_span(const Value& value, const Report& report) {
  Span span;
  int part = 0;
  value.each([&](const Value& element) {
    switch (part++) {
      case 0: element.read(span.ticks); break;
      case 1: read_site_number(element, report, span.site); break;
      case 2: {
        int doing = 0;
        element.read(doing);
        if (doing < 0 || doing > static_cast<int>(Doing::blocked)) refuse(element.place(), "0 to 4 is wanted");
        span.doing = static_cast<Doing>(doing);
        break;
      }
      default: refuse(element.place(), "is one too many");
    }
  });
  if (part != 3) refuse(value.place(), "three numbers are wanted: ticks, site, doing");
  return span;
}

void read_rank(const Value& value, RankRow& row) {
  value["rank"].read(row.rank);
  value["cpus"].read(row.cpus);
  if (row.cpus < 1) refuse(value.place() + ".cpus", "one CPU at least is wanted");
  value.read("host", row.host);
  value.read("seconds", row.seconds);
  value.read("parallel_efficiency", row.efficiency);
  value.read("useful", row.useful);
  read_lost(value, row.lost);
  value.read("waited", row.waited);
  value.read("exit_code", row.exit_code);
}

void read_rest(const Value& value, Report& report) {
  if (value.has("timeline")) {
    const Value timeline = value["timeline"];
    timeline.read("tick", report.timeline.tick);
    if (timeline.has("cpus")) {
      timeline["cpus"].each([&](const Value& cpu) {
        std::vector<Span>& spans = report.timeline.cpus.emplace_back();
        cpu.each([&](const Value& span) { spans.push_back(read_span(span, report)); });
      });
    }
  }
  if (value.has("threads")) {
    value["threads"].each([&](const Value& thread) {
      ThreadRow& row = report.threads.emplace_back();
      thread.read("name", row.name);
      thread.read("whose", row.whose);
      thread.read("cpu", row.cpu);
    });
  }
  if (value.has("messages")) {
    value["messages"].each([&](const Value& message) {
      MessageRow& row = report.messages.emplace_back();
      message.read("call", row.call);
      message.read("peer", row.peer);
      message.read("count", row.count);
      message.read("waited", row.waited);
      message.read("rank", row.rank);
    });
  }
  if (value.has("ranks")) {
    value["ranks"].each([&](const Value& rank) { read_rank(rank, report.ranks.emplace_back()); });
  }
  if (value.has("advice")) {
    value["advice"].each([&](const Value& piece) {
      Advice& advice = report.advice.emplace_back();
      piece["kind"].read(advice.kind);
      read_site_number(piece["site"], report, advice.site);
      piece.read("title", advice.title);
      piece.read("evidence", advice.evidence);
      piece.read("action", advice.action);
      piece.read("command", advice.command);
      piece.read("gain", advice.gain);
    });
  }
}

Json parsed(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw std::runtime_error("not JSON: something is wrong at its byte " + std::to_string(error.byte));
  } catch (const Json::exception&) {
    throw std::runtime_error("not JSON: it has a number that is out of range");
  }
}

}  // namespace

Report report_from_json(const std::string& text) {
  const Json json = parsed(text);
  const auto found = json.is_object() ? json.find("format") : json.end();
  if (found == json.end() || !found->is_string()) {
    throw std::runtime_error("not a report of weft: it has no \"format\"; `weft report --json FILE` writes one");
  }
  const auto word = found->get<std::string>();
  if (word != kFormat) {
    constexpr char kKind[] = "weft report ";
    throw std::runtime_error("its format is \"" + word + "\", and this weft reads \"" + kFormat + "\"" +
                             (word.rfind(kKind, 0) == 0 ? ": use the weft that has written it" : ""));
  }
  const Value value(json, "");
  Report report;
  read_run(value["run"], report.run);
  value["sites"].each([&](const Value& site) { read_site(site, report.sites.emplace_back()); });
  if (report.sites.empty()) refuse("sites", "the program itself is wanted as the first one");
  check_parents(report.sites);
  read_rest(value, report);
  return report;
}

}  // namespace weft::tools::report
