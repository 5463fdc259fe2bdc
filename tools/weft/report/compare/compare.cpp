// SPDX-License-Identifier: Apache-2.0
#include "report/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "report/compare/match.h"
#include "report/model/constructs.h"
#include "report/model/stable_sort.h"
#include "report/model/tree.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// One run says nothing of how much runs differ; on a quiet machine they do by less than this part of the run.
constexpr double kUnknownNoise = 0.05;
// Runs that agree by chance may still differ so much.
constexpr double kLeastNoise = 0.005;

using Reports = std::vector<Report>;

// Of all runs; those of the first side come first.
struct Figures {
  std::vector<double> before;
  std::vector<double> after;
  double sampling = 0;  // by how much they are uncertain since they come from samples
};

// A part of a run that was seen in some of its snapshots, as a binomial: its CPUs may all have done the same. 95 of 100
// times the truth is within twice of it.
double sampling_error(const Run& run, double value, double whole) {
  if (run.is_trace || run.samples == 0 || whole <= 0) return 0;
  const double part = std::clamp(std::abs(value) / whole, 0.0, 1.0);
  return 2 * whole * std::sqrt(part * (1 - part) / static_cast<double>(run.samples));
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

// `whole` is what parts of a run are measured by.
Change change_of(const Figures& figures, double whole) {
  Change change = {spread_of(figures.before), spread_of(figures.after), false};
  const bool known = figures.before.size() > 1 && figures.after.size() > 1;
  // Runs of which there are several show what samples leave open too.
  const double least = known ? kLeastNoise * whole : kUnknownNoise * whole + figures.sampling;
  const double noise = std::max({change.before.high - change.before.low, change.after.high - change.after.low, least});
  change.clear = std::abs(change.difference()) > noise;
  return change;
}

template <class Get>
Figures figures_of(const Reports& before, const Reports& after, Get&& get) {
  Figures figures;
  for (const Report& report : before) figures.before.push_back(get(report));
  for (const Report& report : after) figures.after.push_back(get(report));
  return figures;
}

Reports constructs_of(const Reports& reports) {
  Reports made;
  for (const Report& report : reports) made.push_back(with_constructs(report));
  return made;
}

// The sites, in which work and losses of a region are those of all that is in it.
std::vector<Site> with_inner(const Report& report) {
  std::vector<Site> sites = report.sites;
  for (int number = 0; number < static_cast<int>(sites.size()); ++number) {
    Site& site = sites[static_cast<size_t>(number)];
    if (site.kind != SiteKind::region) continue;
    for (const int inner : sites_within(report, number)) {
      if (inner == number) continue;
      const Site& more = report.sites[static_cast<size_t>(inner)];
      site.useful += more.useful;
      for (size_t i = 0; i < kLosses; ++i) site.lost[i] += more.lost[i];
    }
  }
  return sites;
}

double size_of(const Change& change) { return std::abs(change.difference()); }

class Comparing {
 public:
  Comparing(const Reports& before, const Reports& after)
      : before_(constructs_of(before)), after_(constructs_of(after)) {
    result_.runs_before = before.size();
    result_.runs_after = after.size();
    result_.noise_known = before.size() > 1 && after.size() > 1;
    std::vector<const Report*> all;
    for (const Report& report : before_) all.push_back(&report);
    for (const Report& report : after_) all.push_back(&report);
    rows_ = match(all);
    for (const Report* report : all) sites_.push_back(with_inner(*report));
  }

  Comparison run() {
    const auto figures = [&](auto&& get) { return figures_of(before_, after_, get); };
    const auto parts = [&](auto&& get) {
      Figures made = figures(get);
      made.sampling = std::hypot(sampling_error(before_.front().run, made.before.front(), 1),
                                 sampling_error(after_.front().run, made.after.front(), 1));
      return made;
    };
    const Figures seconds = figures([](const Report& report) { return report.run.seconds; });
    result_.seconds = change_of(seconds, spread_of(seconds.before).median);
    result_.efficiency =
        change_of(parts([](const Report& report) { return factors_of(report).parallel_efficiency; }), 1);
    for (size_t i = 0; i < kLosses; ++i) {
      result_.factors[i] = change_of(parts([&](const Report& report) { return factors_of(report).each[i]; }), 1);
    }
    compare_sites();
    compare_advice();
    add_notes();
    return std::move(result_);
  }

 private:
  // Site of a row in one of all runs; null: it was not met there.
  const Site* site(size_t run, size_t row) const {
    const int number = rows_[run][row];
    return number < 0 ? nullptr : &sites_[run][static_cast<size_t>(number)];
  }

  template <class Get>
  Change change_at(size_t row, double whole, Get&& get) const {
    Figures figures;
    for (size_t run = 0; run < rows_.size(); ++run) {
      const Site* here = site(run, row);
      (run < before_.size() ? figures.before : figures.after).push_back(here != nullptr ? get(*here) : 0);
    }
    figures.sampling = std::hypot(sampling_error(before_.front().run, figures.before.front(), whole),
                                  sampling_error(after_.front().run, figures.after.front(), whole));
    return change_of(figures, whole);
  }

  void compare_sites() {
    const Run& first = before_.front().run;
    const double cpu_seconds = result_.seconds.before.median * first.cpus;
    for (size_t row = 0; row < rows_.front().size(); ++row) {
      ComparedSite here;
      for (size_t run = rows_.size(); run-- > 0;) {
        const Site* met = site(run, row);
        if (met == nullptr) continue;
        here.kind = met->kind;
        (run < before_.size() ? here.before : here.after) = met->name;
      }
      here.wall = change_at(row, result_.seconds.before.median, [](const Site& site) { return site.wall; });
      here.useful = change_at(row, cpu_seconds, [](const Site& site) { return site.useful; });
      here.lost = change_at(row, cpu_seconds, [](const Site& site) { return site.lost_in_all(); });
      for (size_t i = 0; i < kLosses; ++i) {
        here.each_lost[i] = change_at(row, cpu_seconds, [&](const Site& site) { return site.lost[i]; });
      }
      result_.sites.push_back(std::move(here));
    }
    sort_stably(result_.sites, [](const ComparedSite& a, const ComparedSite& b) {
      return std::max(size_of(a.lost), size_of(a.useful)) > std::max(size_of(b.lost), size_of(b.useful));
    });
  }

  using Said = std::set<std::pair<std::string, size_t>>;  // kind and row

  Said said_in(size_t run) const {
    const Report& report = run < before_.size() ? before_[run] : after_[run - before_.size()];
    Said said;
    for (const Advice& advice : report.advice) {
      const auto found = std::find(rows_[run].begin(), rows_[run].end(), advice.site);
      said.emplace(advice.kind, static_cast<size_t>(found - rows_[run].begin()));
    }
    return said;
  }

  // Said of all runs of one side, and of none of the other one.
  std::vector<ComparedAdvice> only_in(size_t from, size_t to) const {
    std::vector<ComparedAdvice> only;
    const Report& report = from < before_.size() ? before_[from] : after_[from - before_.size()];
    for (const Advice& advice : report.advice) {
      const auto found = std::find(rows_[from].begin(), rows_[from].end(), advice.site);
      const std::pair key(advice.kind, static_cast<size_t>(found - rows_[from].begin()));
      bool wanted = true;
      for (size_t run = 0; run < rows_.size(); ++run) {
        wanted = wanted && (said_in(run).count(key) != 0) == (run >= from && run < to);
      }
      if (wanted) only.push_back({advice.kind, advice.title, report.sites[static_cast<size_t>(advice.site)].name});
    }
    return only;
  }

  void compare_advice() {
    result_.gone = only_in(0, before_.size());
    result_.come = only_in(before_.size(), rows_.size());
  }

  void add_notes() {
    std::vector<std::string>& notes = result_.notes;
    const Run& one = before_.front().run;
    const Run& other = after_.front().run;
    if (one.cpus != other.cpus) {
      notes.push_back(
          format("The CPUs differ: %d before, %d after. Parts of the CPU time can be compared, seconds of it "
                 "cannot.",
                 one.cpus, other.cpus));
    }
    if (one.host != other.host) {
      notes.push_back("The machines differ: " + printable(one.host) + " before, " + printable(other.host) + " after.");
    }
    bool alike = true;
    bool failed = false;
    for (const Reports* side : {&before_, &after_}) {
      for (const Report& report : *side) {
        alike = alike && report.run.cpus == side->front().run.cpus && report.run.command == side->front().run.command;
        failed = failed || report.run.exit_code != 0;
      }
    }
    if (!alike) notes.push_back("The runs of one side differ in their command or their CPUs.");
    if (failed) notes.push_back("A run has ended with an error.");
    if (!result_.noise_known) {
      notes.push_back(format(
          "One run of a side cannot tell how much runs differ: what changes by less than %.0f %% of the run, and "
          "by what its samples leave open, is called not clear, and what is called clear may still be chance. "
          "Three runs of each side tell: A1.json,A2.json,A3.json B1.json,B2.json,B3.json.",
          100 * kUnknownNoise));
    }
  }

  const Reports before_;
  const Reports after_;
  std::vector<std::vector<int>> rows_;
  std::vector<std::vector<Site>> sites_;  // by run
  Comparison result_;
};

}  // namespace

Comparison compare(const std::vector<Report>& before, const std::vector<Report>& after) {
  return Comparing(before, after).run();
}

}  // namespace weft::tools::report
