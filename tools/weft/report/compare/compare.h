// SPDX-License-Identifier: Apache-2.0
// `weft compare`: what has changed between two sides, each one run of a program or several.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "report/model/model.h"

namespace weft::tools::report {

// The files of both sides: "A.json B.json", "A.json,A2.json B.json,B2.json" or "A.json A2.json -- B.json B2.json".
struct Sides {
  std::vector<std::string> before;
  std::vector<std::string> after;
};
// Throws std::runtime_error with a text for the user.
Sides sides_of(const std::vector<std::string>& words);

// Of a figure in the runs of one side.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
};

struct Change {
  Spread before;
  Spread after;
  bool clear = false;  // it is more than what runs of one side differ by

  double difference() const { return after.median - before.median; }
};

// A construct of either side (constructs.h). Figures of runs that have not met it are 0. The work and the losses of a
// region are those of all that is in it, since a loop in it may come to light or be hidden from the runtime by another
// schedule; those of others are their own.
struct ComparedSite {
  SiteKind kind = SiteKind::program;
  std::string before;  // its name; empty: that side has not met it
  std::string after;
  Change wall;
  Change useful;
  Change lost;                             // in all
  std::array<Change, kLosses> each_lost;
};

struct ComparedAdvice {
  std::string kind;
  std::string title;
  std::string name;  // of the site
};

struct Comparison {
  size_t runs_before = 0;
  size_t runs_after = 0;
  bool noise_known = false;  // both sides have several runs
  Change seconds;
  Change efficiency;                   // parallel efficiency
  std::array<Change, kLosses> factors;  // parts of the CPU time that were not lost so
  std::vector<ComparedSite> sites;     // those with the greatest change first
  std::vector<ComparedAdvice> gone;    // said of all runs before, and of none after
  std::vector<ComparedAdvice> come;
  std::vector<std::string> notes;
};

// Neither side is empty.
Comparison compare(const std::vector<Report>& before, const std::vector<Report>& after);

// Lines of at most `width` columns, but for names; less than 90 are not heeded.
std::string to_text(const Comparison& comparison, bool colour, int width);
std::string to_json(const Comparison& comparison);

}  // namespace weft::tools::report
