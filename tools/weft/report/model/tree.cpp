// SPDX-License-Identifier: Apache-2.0
#include "report/model/tree.h"

#include <algorithm>
#include <cstddef>

namespace weft::tools::report {

int parent_of(const Report& report, int site) {
  if (site <= 0) return -1;
  return std::max(report.sites[static_cast<size_t>(site)].parent, 0);
}

std::vector<int> sites_within(const Report& report, int root) {
  std::vector<std::vector<int>> children(report.sites.size());
  for (int site = 1; site < static_cast<int>(report.sites.size()); ++site) {
    children[static_cast<size_t>(parent_of(report, site))].push_back(site);
  }
  std::vector<int> found = {root};
  for (size_t i = 0; i < found.size(); ++i) {
    const std::vector<int>& next = children[static_cast<size_t>(found[i])];
    found.insert(found.end(), next.begin(), next.end());
  }
  return found;
}

int region_around(const Report& report, int site) {
  while (site > 0 && report.sites[static_cast<size_t>(site)].kind != SiteKind::region) site = parent_of(report, site);
  return site > 0 ? site : -1;
}

int width_of(const Report& report, int site) {
  const int cpus = std::max(report.run.cpus, 1);
  int width = 1;
  for (int region = region_around(report, site); region > 0;
       region = region_around(report, parent_of(report, region))) {
    const int members = std::max(report.sites[static_cast<size_t>(region)].members, 1);
    if (members >= cpus || width >= cpus) return cpus;
    width *= members;
  }
  return std::min(width, cpus);
}

}  // namespace weft::tools::report
