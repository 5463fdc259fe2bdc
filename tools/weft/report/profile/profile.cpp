// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "observe/format/files.h"
#include "report/wording/numbers.h"
#include "symbols/symbols.h"

namespace weft::tools::report {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr double kSecond = 1e9;

std::string iso_time(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  char rest[8];
  std::snprintf(rest, sizeof rest, ".%03dZ", static_cast<int>(1000 * (seconds - static_cast<double>(time))) % 1000);
  return std::string(text, length) + rest;
}

SiteKind kind_of(const std::string& word) {
  const int number = observe::number_of_word(observe::kKindWords, word);
  if (number >= 0) return static_cast<SiteKind>(number);
  throw std::runtime_error("a profile with a construct \"" + word + "\" of which this weft does not know");
}

Run run_of(const Json& profile) {
  Run run;
  run.command = profile.at("command").get<std::vector<std::string>>();
  run.is_part = profile.at("part") > 0;
  run.host = profile.at("host");
  run.began = iso_time(profile.at("began"));
  run.version = profile.at("version");
  run.seconds = profile.at("nanoseconds").get<double>() / kSecond;
  run.cpus = profile.at("cpus");
  run.process = profile.at("process");
  run.rank = profile.at("rank");
  run.ranks = profile.at("ranks");
  run.samples = profile.at("snapshots");
  if (run.samples > 0) run.period = run.seconds / static_cast<double>(run.samples);
  run.settings = profile.at("settings").get<std::map<std::string, std::string>>();
  // What `weft report` has set itself is no choice of the user's.
  for (const char* own : {"WEFT_PROFILE_FOLDER", "WEFT_PROFILE_PAUSED", "WEFT_TRACE_FILE", "WEFT_LIBRARY", "OMP_TOOL",
                          "OMP_TOOL_LIBRARIES"}) {
    run.settings.erase(own);
  }
  run.others_cpu = profile.at("others_cpu").get<double>() / kSecond;
  run.memory_nodes = profile.at("memory_nodes");
  run.memory_on_one_node = profile.at("memory_on_one_node");
  constexpr double kMuch = 0.01;
  const double unseen = profile.at("unseen").get<double>() / kSecond;
  if (unseen > kMuch * run.seconds) {
    run.unseen = unseen;
    run.notes.push_back("For " + seconds_text(run.unseen) +
                        " there was a region that had begun before the recording: nothing is known of its threads.");
  }
  if (profile.at("lost_nodes") > 0) {
    run.notes.push_back("The program has more places with OpenMP than the recorder keeps: " +
                        std::to_string(profile.at("lost_nodes").get<uint64_t>()) +
                        " of them are counted where they were met.");
  }
  return run;
}

std::string name_of_serial(const SourcePlace& place, const std::string& name) {
  return place.object.empty() ? "before the first region" : "after the region at " + name;
}

class Sites {
 public:
  Sites(const Json& nodes, Symbols& symbols) : nodes_(nodes), symbols_(symbols) { choose(); }

  std::vector<Site> make() {
    std::vector<Site> sites;
    for (size_t node = 0; node < nodes_.size(); ++node) {
      if (index_[node] >= 0) sites.push_back(site_of(nodes_[node]));
    }
    return sites;
  }

  // Of a node that has none: the one around it.
  int site_of_node(size_t node) const {
    while (node != 0 && index_[node] < 0) node = nodes_[node].at("parent");
    return index_[node];
  }

 private:
  static double lost_in(const Json& node) {
    double sum = 0;
    for (const auto& [why, ns] : node.at("lost").items()) sum += ns.get<double>();
    return sum;
  }

  // Those that were entered, and what is around them.
  void choose() {
    std::vector<bool> wanted(nodes_.size(), false);
    wanted[0] = true;
    for (size_t node = 1; node < nodes_.size(); ++node) {
      const Json& here = nodes_[node];
      const bool met = here.at("count") > 0 || here.at("useful") > 0 || lost_in(here) > 0;
      for (size_t around = node; met && !wanted[around]; around = nodes_[around].at("parent")) wanted[around] = true;
    }
    index_.assign(nodes_.size(), -1);
    int next = 0;
    for (size_t node = 0; node < nodes_.size(); ++node) {
      if (wanted[node]) index_[node] = next++;
    }
  }

  Site site_of(const Json& node) {
    Site site;
    site.kind = kind_of(node.at("kind"));
    site.parent = site.kind == SiteKind::program ? -1 : site_of_node(node.at("parent"));
    set_place(node.at("caller"), site);
    site.callee = node.at("callee");
    site.schedule = node.at("schedule");
    site.count = node.at("count");
    site.iterations = node.at("iterations");
    site.pieces = site.kind == SiteKind::task ? site.count : node.at("pieces").get<uint64_t>();
    site.stolen = node.at("stolen");
    site.members = node.at("members");
    site.requested = node.at("requested");
    // A region's own level counts itself.
    site.level = std::max(0, node.at("level").get<int>() - (site.kind == SiteKind::region ? 1 : 0));
    site.wall = node.at("wall").get<double>() / kSecond;
    site.useful = node.at("useful").get<double>() / kSecond;
    for (size_t i = 0; i < site.lost.size(); ++i) {
      site.lost[i] = node.at("lost").at(word_of(static_cast<Loss>(i))).get<double>() / kSecond;
    }
    set_lengths(node, site);
    return site;
  }

  void set_place(uint64_t caller, Site& site) {
    if (caller != 0) {
      const CodePlace place = symbols_.find(caller);
      site.place = {place.file, place.line, place.function, place.object, place.offset, {}};
      site.name = name_of(place);
    }
    if (site.kind == SiteKind::serial) site.name = name_of_serial(site.place, site.name);
    if (site.kind == SiteKind::program) site.name = "the whole program";
  }

  static void set_lengths(const Json& node, Site& site) {
    Lengths& lengths = site.lengths;
    lengths.timed = node.at("timed");
    if (lengths.timed == 0) return;
    const auto timed = static_cast<double>(lengths.timed);
    lengths.mean = node.at("timed_ns").get<double>() / timed / kSecond;
    // All at first and some later were timed: they stand for all.
    const uint64_t all = std::max({lengths.timed, site.pieces, site.pieces > 0 ? 0 : site.count});
    const Json& counts = node.at("lengths");
    for (size_t i = 0; i < std::min(counts.size(), lengths.histogram.size()); ++i) {
      lengths.histogram[i] = counts[i].get<double>() * static_cast<double>(all) / timed;
    }
  }

  const Json& nodes_;
  Symbols& symbols_;
  std::vector<int> index_;  // by node: the site; -1: none
};

// The recorder looked at moments that it has drawn; the timeline has ticks of one length.
Timeline timeline_of(const Json& rows, const Sites& sites, double seconds, int cpus) {
  Timeline timeline;
  timeline.cpus.resize(static_cast<size_t>(cpus));
  if (rows.empty() || seconds <= 0) return timeline;
  constexpr size_t kFew = 200;
  const size_t ticks = std::max(rows.size(), kFew);
  timeline.tick = seconds / static_cast<double>(ticks);
  const auto add = [](std::vector<Span>& spans, int site, Doing doing) {
    if (!spans.empty() && spans.back().site == site && spans.back().doing == doing) {
      ++spans.back().ticks;
    } else {
      spans.push_back({1, site, doing});
    }
  };
  size_t row = 0;
  for (size_t tick = 0; tick < ticks; ++tick) {
    const double now = (static_cast<double>(tick) + 0.5) * timeline.tick * kSecond;
    while (row + 1 < rows.size() && rows[row + 1][0].get<double>() <= now) ++row;
    const bool before_all = rows[row][0].get<double>() > now;
    for (size_t cpu = 0; cpu < timeline.cpus.size(); ++cpu) {
      // Until its first call of OpenMP a program has one thread, as far as is known.
      const bool first = before_all && cpu == 0;
      const auto doing = first ? Doing::work : before_all ? Doing::idle : rows[row][2 + 2 * cpu].get<Doing>();
      const size_t node = before_all ? (first ? 1 : 0) : rows[row][1 + 2 * cpu].get<size_t>();
      add(timeline.cpus[cpu], sites.site_of_node(node), doing);
    }
  }
  return timeline;
}

}  // namespace

Report report_of_profile(const Json& profile, const fs::path& folder) {
  try {
    if (profile.at("format") != observe::kProfileFormat)
      throw std::runtime_error("a profile by another version of weft");
    const fs::path maps = folder / "maps";
    std::ofstream(maps) << profile.at("maps").get<std::string>();
    const auto symbols = read_symbols(maps);
    Report report;
    report.run = run_of(profile);
    Sites sites(profile.at("nodes"), *symbols);
    report.sites = sites.make();
    if (!symbols->reads_lines() && !report.sites.empty()) report.run.notes.emplace_back(kNoLines);
    report.timeline = timeline_of(profile.at("timeline"), sites, report.run.seconds, report.run.cpus);
    for (const Json& row : profile.at("threads")) {
      report.threads.push_back({row.at("name"), row.at("whose"), row.at("cpu").get<double>() / kSecond});
    }
    for (const Json& row : profile.at("messages")) {
      report.messages.push_back(
          {row.at("call"), row.at("peer"), row.at("count"), row.at("waited").get<double>() / kSecond});
    }
    return report;
  } catch (const Json::exception& fault) {
    throw std::runtime_error(std::string("the profile is damaged (") + fault.what() + ")");
  }
}

Report read_profile(const fs::path& file, const fs::path& folder) {
  std::ifstream in(file);
  try {
    return report_of_profile(Json::parse(in), folder);
  } catch (const Json::exception& fault) {
    throw std::runtime_error(std::string("the profile is damaged (") + fault.what() + ")");
  }
}

}  // namespace weft::tools::report
