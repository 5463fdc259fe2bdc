// SPDX-License-Identifier: Apache-2.0
#include "report/command/excerpts.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "report/model/stable_sort.h"

namespace weft::tools::report {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostSites = 40;
constexpr int kBefore = 3;
constexpr int kBehind = 8;
constexpr size_t kMostColumns = 200;
// Sources that programs write may have lines, and be, of any length.
constexpr uintmax_t kMostBytes = 8 << 20;

// Lines of a source that is newer than the program are others.
bool is_as_it_was(const SourcePlace& place) {
  std::error_code error;
  if (!fs::is_regular_file(place.file, error) || fs::file_size(place.file, error) > kMostBytes) return false;
  const auto written = fs::last_write_time(place.file, error);
  const auto built = fs::last_write_time(place.object, error);
  return !error && written <= built;
}

void add_excerpt(SourcePlace& place) {
  if (place.line <= 0 || !is_as_it_was(place)) return;
  std::ifstream file(place.file);
  Excerpt excerpt{.first = std::max(1, place.line - kBefore), .lines = {}};
  std::string line;
  for (int number = 1; number <= place.line + kBehind && std::getline(file, line); ++number) {
    if (line.find('\0') != std::string::npos) return;
    if (line.size() > kMostColumns) line.resize(kMostColumns);
    if (number >= excerpt.first) excerpt.lines.push_back(line);
  }
  if (excerpt.first + static_cast<int>(excerpt.lines.size()) > place.line) place.excerpt = std::move(excerpt);
}

}  // namespace

void add_excerpts(Report& report) {
  std::vector<Site*> sites;
  for (Site& site : report.sites) sites.push_back(&site);
  sort_stably(sites,
              [](const Site* a, const Site* b) { return a->lost_in_all() + a->useful > b->lost_in_all() + b->useful; });
  sites.resize(std::min(sites.size(), kMostSites));
  for (Site* site : sites) add_excerpt(site->place);
}

}  // namespace weft::tools::report
