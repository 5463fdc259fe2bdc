// SPDX-License-Identifier: Apache-2.0
#include "report/model/constructs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "report/model/tree.h"

namespace weft::tools::report {

namespace {

void add_lengths(Lengths& sum, double weight, const Lengths& more, double more_weight) {
  const double all = (sum.timed > 0 ? weight : 0) + (more.timed > 0 ? more_weight : 0);
  if (all > 0) {
    sum.mean = ((sum.timed > 0 ? weight * sum.mean : 0) + (more.timed > 0 ? more_weight * more.mean : 0)) / all;
  }
  sum.timed += more.timed;
  for (size_t i = 0; i < sum.histogram.size(); ++i) sum.histogram[i] += more.histogram[i];
}

// Pieces that have lengths.
double pieces_of(const Site& site) { return static_cast<double>(std::max(site.pieces, site.count)); }

}  // namespace

PlaceKey place_key(const Site& site) {
  const SourcePlace& place = site.place;
  if (!place.file.empty() && place.line > 0) {
    // Calls of several names are told apart on one line.
    return {site.kind, place.file, static_cast<uint64_t>(place.line), place.function + '\n' + site.callee};
  }
  if (place.offset != 0) return {site.kind, place.object, place.offset, ""};
  return {site.kind, place.object, 0, site.name};
}

void add(Site& sum, const Site& more) {
  add_lengths(sum.lengths, pieces_of(sum), more.lengths, pieces_of(more));
  sum.count += more.count;
  sum.iterations += more.iterations;
  sum.pieces += more.pieces;
  sum.stolen += more.stolen;
  sum.members = std::max(sum.members, more.members);
  sum.requested = std::max(sum.requested, more.requested);
  sum.wall += more.wall;
  sum.useful += more.useful;
  for (size_t i = 0; i < sum.lost.size(); ++i) sum.lost[i] += more.lost[i];
}

Report with_constructs(const Report& report) {
  Report result = report;
  result.timeline = {};
  result.sites.clear();
  if (report.sites.empty()) return result;
  std::map<std::pair<int, PlaceKey>, int> numbers;
  std::vector<int> number_of(report.sites.size(), 0);
  // sites_within() has those around a site before it.
  for (const int number : sites_within(report, 0)) {
    const Site& site = report.sites[static_cast<size_t>(number)];
    int around = parent_of(report, number);
    while (around > 0 && report.sites[static_cast<size_t>(around)].kind == SiteKind::serial) {
      around = parent_of(report, around);
    }
    const int parent = around < 0 ? -1 : number_of[static_cast<size_t>(around)];
    const auto [found, is_new] =
        numbers.emplace(std::pair(parent, place_key(site)), static_cast<int>(result.sites.size()));
    number_of[static_cast<size_t>(number)] = found->second;
    if (is_new) {
      result.sites.push_back(site);
      result.sites.back().parent = parent;
    } else {
      add(result.sites[static_cast<size_t>(found->second)], site);
    }
  }
  // Others may have been in it at the same time.
  for (Site& site : result.sites) site.wall = std::min(site.wall, report.run.seconds);
  for (Advice& advice : result.advice) advice.site = number_of[static_cast<size_t>(advice.site)];
  return result;
}

}  // namespace weft::tools::report
