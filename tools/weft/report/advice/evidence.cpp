// SPDX-License-Identifier: Apache-2.0
#include "report/advice/evidence.h"

#include <algorithm>
#include <map>
#include <utility>

#include "report/model/constructs.h"
#include "report/model/stable_sort.h"
#include "report/model/tree.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// A program that loses less has no fault that a reader should be told of: so much is noise on a machine with others.
constexpr double kGoodLoss = 0.05;
// Less is not seen when the advice is tried: times of runs differ by that much.
constexpr double kLeastGain = 0.02;     // of the run
constexpr double kLeastSeconds = 0.01;
// Of 200 samples a tenth is known to within a fifth of itself.
constexpr double kLeastSamples = 200;

bool ends_with(const std::string& text, const char* end) {
  const std::string wanted = end;
  return text.size() >= wanted.size() && text.compare(text.size() - wanted.size(), wanted.size(), wanted) == 0;
}

bool is_fortran(const SourcePlace& place) {
  static constexpr const char* kEnds[] = {".f",   ".F",   ".for", ".FOR", ".f90", ".F90", ".f95",
                                          ".F95", ".f03", ".F03", ".f08", ".F08", ".f18", ".F18"};
  return std::any_of(std::begin(kEnds), std::end(kEnds), [&](const char* end) { return ends_with(place.file, end); });
}

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string("_-./=:,+@%").find(static_cast<char>(c)) != std::string::npos;
  });
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

Evidence::Evidence(const Report& report) : report_(report) {
  left_.reserve(report.sites.size());
  for (const Site& site : report.sites) left_.push_back(site.lost);
  good_ = report.sites.empty() || factors_of(report).parallel_efficiency >= 1 - kGoodLoss;
  group();
}

void Evidence::group() {
  std::map<std::pair<int, PlaceKey>, size_t> by_place;
  for (int number = 0; number < static_cast<int>(report_.sites.size()); ++number) {
    const Site& here = site(number);
    int depth = 0;
    for (int around = region_around(report_, parent_of(report_, number)); around > 0;
         around = region_around(report_, parent_of(report_, around))) {
      ++depth;
    }
    const auto [found, is_new] = by_place.emplace(std::pair(depth, place_key(here)), constructs_.size());
    if (is_new) constructs_.push_back({{number}, number, depth, here});
    if (is_new) continue;
    Construct& construct = constructs_[found->second];
    construct.sites.push_back(number);
    add(construct.sum, here);
    if (here.lost_in_all() > site(construct.worst).lost_in_all()) construct.worst = number;
  }
  // Others may have been in it at the same time.
  for (Construct& construct : constructs_) {
    construct.sum.wall = std::min(construct.sum.wall, run().seconds);
    construct.sum.name = site(construct.worst).name;
  }
}

int Evidence::cpus() const { return std::max(run().cpus, 1); }

std::optional<std::string> Evidence::setting(const char* name) const {
  const auto found = run().settings.find(name);
  if (found == run().settings.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::vector<int> Evidence::within(const Construct& construct) const {
  std::vector<int> all;
  for (const int number : construct.sites) {
    const std::vector<int> below = sites_within(report_, number);
    all.insert(all.end(), below.begin(), below.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

double Evidence::useful(const std::vector<int>& sites) const {
  double sum = 0;
  for (const int number : sites) sum += site(number).useful;
  return sum;
}

double Evidence::spent(const std::vector<int>& sites) const {
  double sum = 0;
  for (const int number : sites) sum += site(number).useful + site(number).lost_in_all();
  return sum;
}

double Evidence::left(int site, Loss loss) const { return left_[static_cast<size_t>(site)][static_cast<size_t>(loss)]; }

double Evidence::left(const std::vector<int>& sites, Loss loss) const {
  double sum = 0;
  for (const int number : sites) sum += left(number, loss);
  return sum;
}

double Evidence::left(const Claim& claim) const {
  double sum = 0;
  for (const Loss loss : claim.losses) sum += left(claim.sites, loss);
  return sum;
}

void Evidence::propose(Advice advice, double wall, const std::vector<Claim>& claims) {
  if (good_) return;
  double claimed = 0;
  for (const Claim& claim : claims) claimed += left(claim);
  // Where the time in which it was there is not known, the loss itself says how long that was at least.
  const double seen = std::min(std::max(wall, claimed / cpus()), run().seconds);
  advice.gain = std::min(advice.gain, seen);
  if (advice.gain < kLeastGain * run().seconds || advice.gain < kLeastSeconds) return;
  const double period = run().samples > 0 ? run().seconds / static_cast<double>(run().samples) : 0;
  const double samples = period > 0 ? seen / period : 0;
  if (!run().is_trace && samples < kLeastSamples) {
    notes_.push_back(
        format("For a verdict on %s the run is too short: it was seen in %.0f samples, and %.0f are needed",
               site_text(site(advice.site)).c_str(), samples, kLeastSamples));
    return;
  }
  for (const Claim& claim : claims) {
    for (const int number : claim.sites) {
      for (const Loss loss : claim.losses) left_[static_cast<size_t>(number)][static_cast<size_t>(loss)] = 0;
    }
  }
  mention(std::move(advice));
}

void Evidence::mention(Advice advice) {
  if (!advice.title.empty())
    advice.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(advice.title[0])));
  advice_.push_back(std::move(advice));
}

std::vector<Advice> Evidence::take_advice() {
  sort_stably(advice_, [](const Advice& one, const Advice& other) { return one.gain > other.gain; });
  return std::move(advice_);
}

double as_time(double lost, int width) { return lost / std::max(width, 1); }

double as_balanced_time(double lost, int width, int cpus) {
  if (width < 2) return 0;
  return lost * 0.5 / (std::max(cpus, width) - 0.5 * width);
}

std::string site_text(const Site& site) {
  const char* kind = site.kind == SiteKind::sections   ? "sections"
                     : site.kind == SiteKind::critical ? "critical region"
                     : site.kind == SiteKind::ordered  ? "ordered region"
                     : site.kind == SiteKind::region   ? "parallel region"
                     : site.kind == SiteKind::single   ? "single region"
                     : site.kind == SiteKind::masked   ? "masked region"
                     : site.kind == SiteKind::serial   ? "serial part"
                                                       : word_of(site.kind);
  const std::string name = printable(site.name);
  if (site.kind == SiteKind::program) return "the program";
  // Its name says where it is: before the first region, or behind which one.
  if (site.kind == SiteKind::serial) return "the serial part " + name;
  if (name.empty()) return std::string("a ") + kind + " whose place is not known";
  const bool is_line = !site.place.file.empty() && site.place.line > 0;
  return std::string("the ") + kind + (is_line || site.place.function.empty() ? " at " : " in ") + name;
}

std::string directive(const Site& site, const std::string& words) {
  if (!is_fortran(site.place)) return "#pragma omp " + words;
  std::string text = " " + words + " ";
  const size_t found = text.find(" for ");
  if (found != std::string::npos) text.replace(found, 5, " do ");
  return "!$omp" + text.substr(0, text.size() - 1);
}

std::string command_line(const Run& run) {
  if (run.is_part) return "PROGRAM";
  std::string text;
  for (const std::string& word : run.command) text += (text.empty() ? "" : " ") + quoted(word);
  return text.empty() ? "PROGRAM" : text;
}

std::string run_without(const Run& run, const std::string& variable) {
  if (run.is_part) return "unset " + variable;
  return "env -u " + variable + " weft report -- " + command_line(run);
}

}  // namespace weft::tools::report
