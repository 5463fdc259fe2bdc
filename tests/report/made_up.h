// SPDX-License-Identifier: Apache-2.0
// Reports of runs that have not been: a program of the test's choice, with a sample each millisecond.
#pragma once

#include <string>

#include "report/model/model.h"

namespace weft::tests {

using tools::report::Advice;
using tools::report::Doing;
using tools::report::Loss;
using tools::report::Report;
using tools::report::Site;
using tools::report::SiteKind;

class MadeUpRun {
 public:
  MadeUpRun(double seconds, int cpus) {
    report.run.command = {"./program"};
    report.run.host = "here";
    report.run.version = "weft 1.0.0";
    report.run.seconds = seconds;
    report.run.cpus = cpus;
    report.run.samples = static_cast<uint64_t>(seconds * 1000);
    report.run.period = 1e-3;
    report.sites.emplace_back();
    report.sites[0].name = "the whole program";
    report.sites[0].wall = seconds;
  }

  int add(SiteKind kind, int line, int parent = 0, const std::string& file = "program.c") {
    Site site;
    site.kind = kind;
    site.parent = parent;
    site.count = 1;
    if (line > 0) {
      site.place = {"/src/" + file, line, "work", "/bin/program", static_cast<uint64_t>(line) * 16, {}};
      site.name = file + ":" + std::to_string(line);
      if (kind == SiteKind::serial) site.name = "after the region at " + site.name;
    } else {
      site.name = "before the first region";
    }
    report.sites.push_back(site);
    return static_cast<int>(report.sites.size()) - 1;
  }
  int add_region(int line, int members, int parent = 0, const std::string& file = "program.c") {
    const int region = add(SiteKind::region, line, parent, file);
    at(region).members = members;
    at(region).requested = members;
    return region;
  }

  Site& at(int site) { return report.sites[static_cast<size_t>(site)]; }
  double& lost(int site, Loss loss) { return at(site).lost[static_cast<size_t>(loss)]; }
  // Pieces of this length; the work is theirs.
  void set_pieces(int site, uint64_t pieces, double length) {
    at(site).pieces = pieces;
    at(site).lengths.timed = pieces;
    at(site).lengths.mean = length;
    at(site).useful = static_cast<double>(pieces) * length;
  }
  void set_lengths(int site, double mean) {
    at(site).lengths.timed = at(site).count;
    at(site).lengths.mean = mean;
  }

  Report report;
};

}  // namespace weft::tests
