// SPDX-License-Identifier: Apache-2.0
#include "report/text/text.h"

#include <algorithm>

#include "colour.h"
#include "report/model/stable_sort.h"
#include "report/wording/conclusion.h"
#include "report/wording/headline.h"
#include "report/wording/numbers.h"
#include "report/wording/words.h"

namespace weft::tools::report {

namespace {

constexpr int kLeastWidth = 72;
constexpr size_t kMostReasons = 4;  // and one line for the rest
constexpr size_t kMostSites = 5;
constexpr size_t kMostAdvice = 3;
constexpr double kShown = 0.005;  // smaller parts are rounded to nothing

struct Part {
  Loss loss;
  double seconds;
};

std::vector<Part> largest_first(const std::array<double, kLosses>& lost) {
  std::vector<Part> parts;
  for (int i = 0; i < kLosses; ++i) parts.push_back({static_cast<Loss>(i), lost[static_cast<size_t>(i)]});
  sort_stably(parts, [](const Part& a, const Part& b) { return a.seconds > b.seconds; });
  return parts;
}

class Page {
 public:
  Page(const Report& report, bool colour, int width, const std::string& file)
      : report_(report),
        run_(report.run),
        colour_(colour),
        width_(static_cast<size_t>(std::max(width, kLeastWidth))),
        file_(printable(file)),
        whole_(run_.cpus * run_.seconds) {}

  std::string text() {
    headline();
    ranks();
    reasons();
    sites();
    advice();
    std::string all;
    for (const std::string& line : lines_) all += line + "\n";
    return all;
  }

 private:
  void add(const std::string& line) { lines_.push_back(line); }
  std::string part(double seconds) const { return percent_text(whole_ > 0 ? seconds / whole_ : 0); }
  bool is_shown(double seconds) const { return whole_ > 0 && seconds >= kShown * whole_; }

  void headline() {
    std::string command;
    for (const std::string& word : run_.command) command += (command.empty() ? "" : " ") + printable(word);
    std::string end;
    if (report_.ranks.size() > 1) end += format(", %zu ranks", report_.ranks.size());
    if (run_.rank >= 0) end += format(", rank %d of %d", run_.rank, run_.ranks);
    if (run_.exit_code != 0) end += format(", ended with code %d", run_.exit_code);
    const std::string begin = "weft report: ";
    add(colour_.bold(begin + shortened(command, width_ - begin.size() - end.size()) + end));
    for (const std::string& line : run_.deadlock) add(colour_.bad(shortened(printable(line), width_)));
    add(headline_of(report_));
    const double efficiency = factors_of(report_).parallel_efficiency;
    const std::string share = percent_text(efficiency);
    add((efficiency >= kGoodEfficiency ? colour_.good(share) : colour_.bad(share)) +
        " of the CPUs' time was the program's work" + (is_shown(whole_ * (1 - efficiency)) ? ". Lost:" : "."));
    if (run_.own_seconds > 0) {
      lines_.insert(lines_.end() - 1,
                    format("Under its own OpenMP runtime it took %s, and %s of CPU time.",
                           seconds_text(run_.own_seconds).c_str(), seconds_text(run_.own_cpu_seconds).c_str()));
    }
  }

  // Between the line above and what was lost there.
  void ranks() {
    if (report_.ranks.size() < 2) return;
    const auto [least, most] =
        std::minmax_element(report_.ranks.begin(), report_.ranks.end(),
                            [](const RankRow& a, const RankRow& b) { return a.useful < b.useful; });
    double sum = 0;
    for (const RankRow& row : report_.ranks) sum += row.useful;
    const double balance = most->useful > 0 ? sum / static_cast<double>(report_.ranks.size()) / most->useful : 1;
    lines_.insert(lines_.end() - 1,
                  shortened(format("Rank %d worked most (%s), rank %d least (%s): balance %s.", most->rank,
                                   seconds_text(most->useful).c_str(), least->rank, seconds_text(least->useful).c_str(),
                                   percent_text(balance).c_str()),
                            width_));
  }

  void reasons() {
    std::array<double, kLosses> lost{};
    for (const Site& site : report_.sites) {
      for (size_t i = 0; i < lost.size(); ++i) lost[i] += site.lost[i];
    }
    double rest = 0;
    size_t shown = 0;
    for (const Part& each : largest_first(lost)) {
      if (shown >= kMostReasons || !is_shown(each.seconds)) {
        rest += each.seconds;
        continue;
      }
      ++shown;
      add(reason(plain_word_of(each.loss), each.seconds, meaning_of(each.loss)));
    }
    if (is_shown(rest)) add(reason("other reasons", rest, ""));
  }

  std::string reason(const std::string& word, double seconds, const char* meaning) const {
    const std::string figures =
        format("  %s %5s %9s  ", padded(word, 15).c_str(), part(seconds).c_str(), seconds_text(seconds).c_str());
    return figures + colour_.faint(shortened(meaning, width_ - std::min(width_, figures.size())));
  }

  // Sites of one name and kind are one line.
  void sites() {
    std::vector<Site> rows;
    for (const Site& site : report_.sites) {
      const auto same = std::find_if(rows.begin(), rows.end(), [&](const Site& row) {
        return row.kind == site.kind && row.name == site.name && row.schedule == site.schedule &&
               row.callee == site.callee;
      });
      if (same == rows.end()) {
        rows.push_back(site);
        continue;
      }
      for (size_t i = 0; i < site.lost.size(); ++i) same->lost[i] += site.lost[i];
    }
    sort_stably(rows, [](const Site& a, const Site& b) { return a.lost_in_all() > b.lost_in_all(); });
    size_t name_width = 0;
    size_t count = 0;
    while (count < std::min(rows.size(), kMostSites) && is_shown(rows[count].lost_in_all())) {
      name_width = std::max(name_width, columns(name_of(rows[count])));
      ++count;
    }
    if (count == 0) return;
    // Room for the figures, and for two reasons at least.
    name_width = std::min(std::max<size_t>(name_width, 5), width_ - 42);
    add("");
    add(colour_.bold("  " + padded("WHERE", name_width) + "      LOST  WHY"));
    for (size_t i = 0; i < count; ++i) add(row_of(rows[i], name_width));
  }

  static std::string name_of(const Site& site) {
    if (site.kind == SiteKind::program || site.kind == SiteKind::serial) return printable(site.name);
    const std::string name = site.name.empty() ? "?" : printable(site.name);
    const std::string kind = site.callee.empty() ? word_of(site.kind) : printable(site.callee);
    return name + " " + kind + (site.schedule.empty() ? "" : " (" + printable(site.schedule) + ")");
  }

  std::string row_of(const Site& site, size_t name_width) const {
    std::string why;
    for (const Part& each : largest_first(site.lost)) {
      const std::string more = (why.empty() ? "" : ", ") + plain_word_of(each.loss) + " " + part(each.seconds);
      if (!is_shown(each.seconds) || name_width + 14 + why.size() + more.size() > width_) break;
      why += more;
    }
    return format("  %s %9s  %s", padded(shortened(name_of(site), name_width), name_width).c_str(),
                  seconds_text(site.lost_in_all()).c_str(), why.c_str());
  }

  void advice() {
    const size_t end = file_.empty() ? 0 : 1;
    const size_t count = std::min(report_.advice.size(), kMostAdvice);
    add("");
    constexpr size_t kMostNotes = 2;
    for (size_t i = 0; i < std::min(run_.notes.size(), kMostNotes); ++i) note(run_.notes[i]);
    if (count == 0) {
      for (const std::string& line : wrapped("No advice: " + conclusion_of(report_).text, width_)) add(line);
    } else {
      add(colour_.bold("  WHAT TO CHANGE"));
    }
    // What is left is shared, so that the last one is not without its action.
    for (size_t i = 0; i < count; ++i) {
      const size_t others = count - i - 1;
      const size_t room = (static_cast<size_t>(kMostLines) - end - lines_.size() + others) / (others + 1);
      one(report_.advice[i], i + 1, room);
    }
    if (!file_.empty()) add("The whole report: " + shortened(file_, width_ - 18));
  }

  void note(const std::string& text) {
    constexpr size_t kMostLinesOfNote = 3;
    const std::string begin = "  Note: ";
    std::vector<std::string> lines = wrapped(printable(text), width_ - begin.size());
    if (lines.size() > kMostLinesOfNote) {
      lines.resize(kMostLinesOfNote);
      lines.back() = shortened(lines.back() + " ...", width_ - begin.size());
    }
    for (size_t i = 0; i < lines.size(); ++i) add((i == 0 ? begin : std::string(begin.size(), ' ')) + lines[i]);
  }

  void one(const Advice& advice, size_t number, size_t room) {
    const std::string begin = format("  %zu. ", number);
    const std::string gain =
        advice.gain > 0 ? format(" (saves up to %s)", seconds_text(advice.gain).c_str()) : std::string();
    add(begin + shortened(printable(advice.title), width_ - begin.size() - gain.size()) + colour_.good(gain));
    if (room < 2) return;
    const std::string indent(begin.size(), ' ');
    const std::string command = printable(advice.command);
    std::vector<std::string> action = wrapped(printable(advice.action), width_ - indent.size());
    // The line that tries it says more than the end of a long sentence.
    const size_t for_action = room - 1 - (command.empty() || room < 3 ? 0 : 1);
    if (action.size() > for_action) {
      action.resize(for_action);
      action.back() = shortened(action.back() + " ...", width_ - indent.size());
    }
    for (const std::string& line : action) add(indent + line);
    if (action.size() + 1 < room && !command.empty()) add(indent + shortened(command, width_ - indent.size()));
  }

  const Report& report_;
  const Run& run_;
  const Colour colour_;
  const size_t width_;
  const std::string file_;
  const double whole_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string to_text(const Report& report, bool colour, int width, const std::string& page) {
  return Page(report, colour, width, page).text();
}

}  // namespace weft::tools::report
