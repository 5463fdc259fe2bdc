// SPDX-License-Identifier: Apache-2.0
#include "report/compare/match.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "report/model/stable_sort.h"
#include "report/model/tree.h"

namespace weft::tools::report {

namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Without what the compiler has added: the number of an outlined function changes with each one before it.
std::string own_function(const std::string& function) {
  const size_t point = function.find('.', 1);
  return point == std::string::npos ? function : function.substr(0, point);
}

// Empty where nothing is known but the name.
std::string own_key(const Site& site) {
  if (site.place.file.empty() && site.place.function.empty()) return "";
  const std::string where = site.place.file.empty() ? site.place.object : site.place.file;
  return std::string(word_of(site.kind)) + '\n' + last_part(where) + '\n' + own_function(site.place.function);
}

std::string name_key(const Site& site) { return std::string(word_of(site.kind)) + '\n' + site.name; }

// How unlike two sites are that may be the same: 0 to 1. The code is what was changed, so that this must not rest on
// times.
double unlikeness(const Site& one, const Site& other) {
  const auto differ = [](uint64_t a, uint64_t b) {
    return a == b ? 0 : std::min(1.0, std::abs(std::log((static_cast<double>(a) + 1) / (static_cast<double>(b) + 1))));
  };
  // Decides where nothing else does.
  const double moved = 1e-3 * std::min(1.0, std::abs(static_cast<double>(one.place.line) - other.place.line) / 1e3);
  return (differ(one.count, other.count) + differ(one.iterations, other.iterations) +
          (one.schedule != other.schedule ? 1 : 0)) /
             3 +
         moved;
}

using Pairs = std::vector<std::pair<int, int>>;

// Pairs sites in the order of their lines, as many as there are on the smaller side, so that they are least unlike.
Pairs paired(const std::vector<Site>& rows, std::vector<int> left, const std::vector<Site>& sites,
             std::vector<int> right) {
  const auto by_line = [](const std::vector<Site>& all) {
    return [&all](int a, int b) {
      const SourcePlace& one = all[static_cast<size_t>(a)].place;
      const SourcePlace& other = all[static_cast<size_t>(b)].place;
      return one.line != other.line ? one.line < other.line : one.offset < other.offset;
    };
  };
  sort_stably(left, by_line(rows));
  sort_stably(right, by_line(sites));
  // cost[i][k]: of the best pairs among the first i and the first k; a site that stays alone on the larger side is
  // free.
  const size_t m = left.size();
  const size_t n = right.size();
  Pairs pairs;
  // Programs do not have so many alike; a file that does must not take all memory.
  constexpr size_t kMostCells = 1 << 20;
  if (m * n > kMostCells) {
    for (size_t i = 0; i < std::min(m, n); ++i) pairs.emplace_back(left[i], right[i]);
    return pairs;
  }
  std::vector<std::vector<double>> cost(m + 1, std::vector<double>(n + 1, 0));
  const auto unlike = [&](size_t i, size_t k) {
    return unlikeness(rows[static_cast<size_t>(left[i])], sites[static_cast<size_t>(right[k])]);
  };
  // One that stays alone while its side is the smaller one costs more than any pair.
  const double left_alone = m > n ? 0 : 2;
  const double right_alone = n > m ? 0 : 2;
  for (size_t i = 0; i <= m; ++i) {
    for (size_t k = 0; k <= n; ++k) {
      if (i == 0 && k == 0) continue;
      double best = HUGE_VAL;
      if (i > 0) best = std::min(best, cost[i - 1][k] + left_alone);
      if (k > 0) best = std::min(best, cost[i][k - 1] + right_alone);
      if (i > 0 && k > 0) best = std::min(best, cost[i - 1][k - 1] + unlike(i - 1, k - 1));
      cost[i][k] = best;
    }
  }
  for (size_t i = m, k = n; i > 0 && k > 0;) {
    if (cost[i][k] == cost[i - 1][k - 1] + unlike(i - 1, k - 1)) {
      pairs.emplace_back(left[--i], right[--k]);
    } else if (cost[i][k] == cost[i - 1][k] + left_alone) {
      --i;
    } else {
      --k;
    }
  }
  return pairs;
}

// The rows so far: the first site that was seen of each, with the row that is around it as parent.
struct Rows {
  std::vector<Site> sites;
  std::vector<std::vector<int>> numbers;  // by report, by row
};

class Matching {
 public:
  Matching(Rows& rows, const Report& report) : rows_(rows), report_(report) {
    row_of_.assign(report.sites.size(), -1);
    site_of_.assign(rows.sites.size(), -1);
  }

  void run() {
    if (site_of_.empty()) return add_all();
    pair(0, 0);
    // From the outside to the inside, since a site's key says which row is around it.
    for (const std::vector<int>& level : levels()) {
      match(level, [&](const Site& site, int around) {
        const std::string key = own_key(site);
        return key.empty() || around < 0 ? "" : std::to_string(around) + '\n' + key;
      });
      match(level, [&](const Site& site, int around) {
        return around < 0 ? "" : std::to_string(around) + '\n' + name_key(site);
      });
    }
    std::vector<int> all;
    for (int site = 1; site < static_cast<int>(report_.sites.size()); ++site) all.push_back(site);
    match(all, [](const Site& site, int) { return own_key(site); });
    match(all, [](const Site& site, int) { return name_key(site); });
    add_rest();
  }

 private:
  void pair(int row, int site) {
    site_of_[static_cast<size_t>(row)] = site;
    row_of_[static_cast<size_t>(site)] = row;
  }

  int around_row(int row) const { return row == 0 ? -1 : rows_.sites[static_cast<size_t>(row)].parent; }
  // The row of the site around; -1: it has none yet.
  int around_site(int site) const { return row_of_[static_cast<size_t>(parent_of(report_, site))]; }

  // By how many are around them.
  std::vector<std::vector<int>> levels() const {
    std::vector<std::vector<int>> levels;
    for (int site = 1; site < static_cast<int>(report_.sites.size()); ++site) {
      size_t depth = 0;
      for (int around = parent_of(report_, site); around > 0; around = parent_of(report_, around)) ++depth;
      if (levels.size() <= depth) levels.resize(depth + 1);
      levels[depth].push_back(site);
    }
    return levels;
  }

  // Pairs those of `sites` and those of the rows that are alone still and have the same key; an empty one is nobody's.
  template <class Key>
  void match(const std::vector<int>& sites, Key&& key) {
    std::map<std::string, std::pair<std::vector<int>, std::vector<int>>> groups;
    for (const int site : sites) {
      if (row_of_[static_cast<size_t>(site)] >= 0) continue;
      groups[key(report_.sites[static_cast<size_t>(site)], around_site(site))].second.push_back(site);
    }
    for (int row = 1; row < static_cast<int>(site_of_.size()); ++row) {
      if (site_of_[static_cast<size_t>(row)] >= 0) continue;
      const auto found = groups.find(key(rows_.sites[static_cast<size_t>(row)], around_row(row)));
      if (found != groups.end()) found->second.first.push_back(row);
    }
    for (const auto& [word, group] : groups) {
      if (word.empty() || group.first.empty()) continue;
      for (const auto& [row, site] : paired(rows_.sites, group.first, report_.sites, group.second)) pair(row, site);
    }
  }

  // Of the first report: its numbers are those of the rows.
  void add_all() {
    rows_.sites = report_.sites;
    std::vector<int> numbers;
    for (int site = 0; site < static_cast<int>(report_.sites.size()); ++site) {
      rows_.sites[static_cast<size_t>(site)].parent = parent_of(report_, site);
      numbers.push_back(site);
    }
    rows_.numbers.push_back(std::move(numbers));
  }

  // Outer ones first, so that the row around each is there.
  void add_rest() {
    for (const std::vector<int>& level : levels()) {
      for (const int site : level) {
        if (row_of_[static_cast<size_t>(site)] < 0) add(site);
      }
    }
    for (std::vector<int>& numbers : rows_.numbers) numbers.resize(site_of_.size(), -1);
    rows_.numbers.push_back(site_of_);
  }

  void add(int site) {
    rows_.sites.push_back(report_.sites[static_cast<size_t>(site)]);
    rows_.sites.back().parent = around_site(site);
    site_of_.push_back(site);
    row_of_[static_cast<size_t>(site)] = static_cast<int>(site_of_.size()) - 1;
  }

  Rows& rows_;
  const Report& report_;
  std::vector<int> row_of_;  // by site
  std::vector<int> site_of_;  // by row
};

}  // namespace

std::vector<std::vector<int>> match(const std::vector<const Report*>& reports) {
  Rows rows;
  for (const Report* report : reports) Matching(rows, *report).run();
  return rows.numbers;
}

}  // namespace weft::tools::report
