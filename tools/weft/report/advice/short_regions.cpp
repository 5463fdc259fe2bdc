// SPDX-License-Identifier: Apache-2.0
// Regions that are so short that beginning and ending them costs more than the threads save.
#include <algorithm>

#include "report/advice/faults.h"
#include "report/model/tree.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// The part of the region's time that has to be lost.
constexpr double kLost = 0.25;
// Up to this length it may be the overhead, if that alone is so large.
constexpr double kPerhapsShort = 100e-6;
// One region around many gives back this part of what beginnings and ends cost: a barrier for each remains.
constexpr double kMerged = 0.7;
// Loops that gain just as much as they cost are not worth a second thread.
constexpr double kWorthIt = 2;

void judge(Evidence& evidence, const Construct& region) {
  const Site& sum = region.sum;
  if (sum.count == 0 || sum.members < 2) return;
  const std::vector<int> within = evidence.within(region);
  const auto count = static_cast<double>(sum.count);
  const double mean = sum.lengths.timed > 0 ? sum.lengths.mean : sum.wall / count;
  const double overhead = evidence.left(within, Loss::overhead);
  const double lost = overhead + evidence.left(within, Loss::imbalance);
  const double useful = evidence.useful(within);
  if (lost <= 0) return;
  const bool is_short = mean < kShortRegion ? lost / (lost + useful) >= kLost
                                            : mean < kPerhapsShort && overhead / (lost + useful) >= kLost;
  if (!is_short) return;

  const int width = width_of(evidence.report(), region.worst);
  const bool outermost = region.depth == 0;
  // One thread alone would take as long as all have worked. Inner regions run beside others, which would not notice.
  const double serial = outermost ? sum.wall - useful : 0;
  const double merged = kMerged * as_time(lost, outermost ? width : evidence.cpus());
  Advice advice;
  advice.kind = "short_loop";
  advice.site = region.worst;
  advice.title = site_text(evidence.site(region.worst)) + " is too short for several threads";
  advice.evidence = format(
      "It ran %s, for %s on average. Of its CPU time %s was work; beginning it, ending it and "
      "waiting took %s.",
      sum.count == 1 ? "once" : (count_text(sum.count) + " times").c_str(), seconds_text(mean).c_str(),
      seconds_text(useful).c_str(), seconds_text(lost).c_str());
  advice.action = "Open one parallel region around the loop that runs this one again and again";
  std::string condition = "n > N";
  // n iterations save n x t x (1 - 1 / threads) and cost what an instance costs now.
  const double saved = useful / std::max(static_cast<double>(sum.iterations), 1.0) * (1 - 1.0 / std::max(width, 2));
  if (sum.iterations > 0 && saved > 0) {
    const uint64_t least = 2 * power_below(kWorthIt * lost / width / count / saved);
    condition = "n > " + std::to_string(least);
    advice.action += ", or let one thread run short loops alone: the threads pay from about " + count_text(least) +
                     " iterations on.";
  } else {
    advice.action += format(", or let one thread run short loops alone: the threads pay from about %s of work on.",
                            seconds_text(kWorthIt * (useful + lost) / count).c_str());
  }
  const bool has_sections =
      std::ranges::any_of(within, [&evidence](int number) { return evidence.site(number).kind == SiteKind::sections; });
  advice.command = directive(sum, (has_sections ? "parallel sections if(" : "parallel for if(") + condition + ")");
  if (serial > merged) advice.action += " As it is, one thread would be faster than all of them.";
  advice.gain = std::max(serial, merged);
  evidence.propose(advice, sum.wall, {{within, {Loss::overhead, Loss::imbalance}}});
}

}  // namespace

void find_short_regions(Evidence& evidence) {
  for (const Construct& construct : evidence.constructs()) {
    if (construct.sum.kind == SiteKind::region) judge(evidence, construct);
  }
}

}  // namespace weft::tools::report
