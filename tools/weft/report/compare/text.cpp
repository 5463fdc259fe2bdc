// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "colour.h"
#include "report/compare/compare.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

constexpr int kLeastWidth = 90;
constexpr size_t kMostSites = 10;
constexpr double kShown = 0.005;

constexpr size_t kFigure = 20;  // columns

// "2.41 s +-0.05 s": half of what the runs differ by.
std::string seconds_of(const Spread& spread) {
  const double half = (spread.high - spread.low) / 2;
  return seconds_text(spread.median) + (half > 0 ? " +-" + seconds_text(half) : "");
}

std::string points_of(const Spread& spread) {
  const double half = (spread.high - spread.low) / 2;
  return percent_text(spread.median) + (half > 0 ? " +-" + percent_text(half) : "");
}

std::string plain(Loss loss) {
  std::string word = word_of(loss);
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

std::string name_of(const ComparedSite& site) {
  std::string name = printable(site.before.empty() ? site.after : site.before);
  if (!site.before.empty() && !site.after.empty() && site.after != site.before) name += " -> " + printable(site.after);
  if (site.kind != SiteKind::program && site.kind != SiteKind::serial) name += std::string(" ") + word_of(site.kind);
  return name;
}

class Page {
 public:
  Page(const Comparison& comparison, bool colour, int width)
      : comparison_(comparison), colour_(colour), width_(static_cast<size_t>(std::max(width, kLeastWidth))) {}

  std::string text() {
    heading();
    totals();
    sites();
    if (!comparison_.gone.empty() || !comparison_.come.empty()) text_ += "\n";
    advice(comparison_.gone, "No longer said: ");
    advice(comparison_.come, "New advice: ");
    for (const std::string& note : comparison_.notes) {
      for (const std::string& line : wrapped("Note: " + note, width_)) text_ += line + "\n";
    }
    return text_;
  }

 private:
  void line(const std::string& name, const std::string& before, const std::string& after, const std::string& change) {
    const size_t room = name_room();
    std::string figures = padded(shortened(name, room), room) + " " + padded(before, kFigure) + " ";
    figures += change.empty() ? after : padded(after, kFigure) + " " + change;
    text_ += figures + "\n";
  }
  size_t name_room() const { return std::min<size_t>(width_ - kLeastWidth + 22, 40); }

  std::string verdict(const Change& change, const std::string& text, bool less_is_better) const {
    if (!change.clear) return colour_.faint(text + "  no clear change");
    const bool better = (change.difference() < 0) == less_is_better;
    return better ? colour_.good(text + "  better") : colour_.bad(text + "  worse");
  }

  static std::string relative(const Change& change) {
    if (change.before.median <= 0) return change.after.median > 0 ? "new" : "";
    return format("%+.1f %%", 100 * change.difference() / change.before.median);
  }

  void heading() {
    const auto runs = [](size_t count) { return of_these(count, "run"); };
    std::string heads = padded("", name_room()) + " " +
                        padded("BEFORE (" + runs(comparison_.runs_before) + ")", kFigure) + " " +
                        padded("AFTER (" + runs(comparison_.runs_after) + ")", kFigure) + " CHANGE";
    text_ += colour_.bold(heads) + "\n";
  }

  void totals() {
    const Change& seconds = comparison_.seconds;
    line("time", seconds_of(seconds.before), seconds_of(seconds.after), verdict(seconds, relative(seconds), true));
    part("parallel efficiency", comparison_.efficiency, 1);
    for (size_t i = 0; i < kLosses; ++i) {
      // As parts that were lost, as the report shows them.
      Change lost = comparison_.factors[i];
      for (Spread* side : {&lost.before, &lost.after}) *side = {1 - side->median, 1 - side->high, 1 - side->low};
      if (lost.before.median < kShown && lost.after.median < kShown) continue;
      part("  lost: " + plain(static_cast<Loss>(i)), lost, -1);
    }
  }

  void part(const std::string& name, const Change& change, int better) {
    line(name, points_of(change.before), points_of(change.after),
         verdict(change, format("%+.1f points", 100 * change.difference()), better < 0));
  }

  void sites() {
    const double whole = std::max(comparison_.seconds.before.median, comparison_.seconds.after.median);
    size_t shown = 0;
    for (const ComparedSite& site : comparison_.sites) {
      if (site.kind == SiteKind::program) continue;
      const double change = std::max(std::abs(site.lost.difference()), std::abs(site.useful.difference()));
      if (shown == kMostSites || change < kShown * whole) break;
      if (shown++ == 0) text_ += "\n" + colour_.bold("CPU time of sites") + "\n";
      std::string name = name_of(site);
      if (site.after.empty()) name += " (only before)";
      if (site.before.empty()) name += " (only after)";
      text_ += shortened(name, width_) + "\n";
      // What one side has not met is neither better nor worse there.
      const bool both = !site.before.empty() && !site.after.empty();
      row("  work", site.useful, both);
      row("  lost", site.lost, both);
    }
    if (shown == 0) text_ += "No site has changed by more than 0.5 % of the time.\n";
  }

  void row(const char* name, const Change& change, bool both) {
    if (change.before.high <= 0 && change.after.high <= 0) return;
    line(name, seconds_of(change.before), seconds_of(change.after),
         both ? verdict(change, relative(change), true) : "");
  }

  void advice(const std::vector<ComparedAdvice>& list, const char* what) {
    for (const ComparedAdvice& each : list) {
      for (const std::string& line : wrapped(what + printable(each.title), width_)) text_ += line + "\n";
    }
  }

  const Comparison& comparison_;
  const Colour colour_;
  const size_t width_;
  std::string text_;
};

}  // namespace

std::string to_text(const Comparison& comparison, bool colour, int width) {
  return Page(comparison, colour, width).text();
}

}  // namespace weft::tools::report
