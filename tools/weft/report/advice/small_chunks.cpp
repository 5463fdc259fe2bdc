// SPDX-License-Identifier: Apache-2.0
// Loops that are dealt out in such small chunks that dealing them out takes a large part of their time.
#include <algorithm>

#include "report/advice/faults.h"
#include "report/model/tree.h"
#include "report/wording/numbers.h"

namespace weft::tools::report {

namespace {

// What is between kSmallPiece and this is small if dealing out takes twice as large a part as it may: many threads meet
// at one counter.
constexpr double kPerhapsSmallPiece = 10e-6;
// A member needs several chunks, or there is nothing left to balance with.
constexpr double kChunksOfAMember = 8;
// To begin and end a loop takes each member about so long, however large its chunks are.
constexpr double kBeginAndEnd = 1e-6;
// Larger chunks do not always bring all back.
constexpr double kCareful = 0.9;

const char* schedule_of(const Site& loop) {
  if (loop.schedule.find("dynamic") != std::string::npos) return "dynamic";
  return loop.schedule.find("guided") != std::string::npos ? "guided" : nullptr;
}

void judge(Evidence& evidence, const Construct& loop) {
  const Site& sum = loop.sum;
  const char* schedule = schedule_of(sum);
  if (schedule == nullptr || sum.pieces == 0) return;
  const std::vector<int> within = evidence.within(loop);
  const auto chunks = static_cast<double>(sum.pieces);
  const double useful = evidence.useful(within);
  const double mean = sum.lengths.timed > 0 ? sum.lengths.mean : useful / chunks;
  const int width = width_of(evidence.report(), loop.worst);
  const double overhead =
      evidence.left(loop.sites, Loss::overhead) - static_cast<double>(sum.count) * width * kBeginAndEnd;
  const double part = overhead > 0 ? overhead / (overhead + useful) : 0;
  const bool small = mean < kSmallPiece ? part >= kLargePart : mean < kPerhapsSmallPiece && part >= 2 * kLargePart;
  if (!small) return;

  const double iterations = std::max(static_cast<double>(sum.iterations), chunks);
  const double of_a_chunk = iterations / chunks;
  const double instances = static_cast<double>(std::max<uint64_t>(sum.count, 1));
  const double most = iterations / instances / (kChunksOfAMember * std::max(width, 1));
  // Zero only where the clock does not see a difference.
  const double wanted = of_a_chunk * kGoodPiece / std::max(mean, 1e-8);
  const uint64_t chunk = power_below(std::min(wanted, most));
  // Too few iterations for larger chunks: the loop is too short.
  if (static_cast<double>(chunk) < 2 * of_a_chunk) return;

  Advice advice;
  advice.kind = "small_chunks";
  advice.site = loop.worst;
  advice.title = site_text(evidence.site(loop.worst)) + " is dealt out in chunks that are too small";
  advice.evidence = format(
      "%s of %s on average (schedule(%s)). Dealing them out took %s of CPU time: %s of the loop's time, %s "
      "for each chunk.",
      of_these(sum.pieces, "chunk").c_str(), seconds_text(mean).c_str(), schedule, seconds_text(overhead).c_str(),
      percent_text(part).c_str(), seconds_text(overhead / chunks).c_str());
  const double now = mean / of_a_chunk * static_cast<double>(chunk);
  advice.action = format("Deal out %s at a time. A chunk then takes about %s, and each thread still gets %.0f of them.",
                         of_these(chunk, "iteration").c_str(), seconds_text(now).c_str(),
                         iterations / instances / static_cast<double>(chunk) / std::max(width, 1));
  advice.command = directive(sum, format("for schedule(%s, %llu)", schedule, static_cast<unsigned long long>(chunk)));
  // The cost of a chunk stays, and there are fewer of them.
  advice.gain = kCareful * as_time(overhead, width) * (1 - of_a_chunk / static_cast<double>(chunk));
  evidence.propose(advice, sum.wall, {{loop.sites, {Loss::overhead}}});
}

}  // namespace

void find_small_chunks(Evidence& evidence) {
  for (const Construct& construct : evidence.constructs()) {
    if (construct.sum.kind == SiteKind::loop) judge(evidence, construct);
  }
}

}  // namespace weft::tools::report
