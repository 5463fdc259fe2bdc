// SPDX-License-Identifier: Apache-2.0
// Reports of ranks that have not been, as one.
#include "report/ranks/merge.h"

#include <numeric>

#include <gtest/gtest.h>

#include "made_up.h"
#include "report/advice/advice.h"
#include "report/compare/compare.h"
#include "report/json/json.h"

namespace {

using weft::tests::Doing;
using weft::tests::Loss;
using weft::tests::MadeUpRun;
using weft::tests::Report;
using weft::tests::Site;
using weft::tests::SiteKind;
using namespace weft::tools::report;

// Two CPUs for so many seconds: a region with a loop, and a wait for messages behind it.
Report rank(int number, double seconds, double useful, double transfer) {
  MadeUpRun run(seconds, 2);
  run.report.run.rank = number;
  run.report.run.ranks = 2;
  run.report.run.began = "2030-01-02T03:04:05.000Z";
  const int region = run.add_region(10, 2);
  const int loop = run.add(SiteKind::loop, 12, region);
  run.at(loop).useful = useful;
  run.at(loop).wall = useful / 2;
  run.lost(loop, Loss::imbalance) = 2 * seconds - useful - transfer;
  const int call = run.add(SiteKind::call, 20);
  run.at(call).callee = "MPI_Recv";
  run.at(call).wall = transfer / 2;
  run.lost(call, Loss::transfer) = transfer;
  const auto half = static_cast<uint32_t>(seconds * 50);
  run.report.timeline = {1e-2,
                         {{{half, loop, Doing::work}, {half, call, Doing::wait}}, {{2 * half, loop, Doing::work}}}};
  run.report.threads = {{"program", "program", useful}};
  run.report.messages = {{"MPI_Recv", 1 - number, 3, transfer / 2}};
  return run.report;
}

const Site& find(const Report& report, SiteKind kind) {
  for (const Site& site : report.sites) {
    if (site.kind == kind) return site;
  }
  ADD_FAILURE() << "no " << word_of(kind);
  return report.sites[0];
}

double handed_out(const Report& report) {
  double sum = 0;
  for (const Site& site : report.sites) sum += site.useful + site.lost_in_all();
  return sum;
}

TEST(ReportMerge, SitesOfOnePlaceAreOne) {
  const Report merged = merge({rank(0, 2, 3, 0.5), rank(1, 2, 1, 2.5)});
  ASSERT_EQ(merged.sites.size(), 4U);
  const Site& loop = find(merged, SiteKind::loop);
  EXPECT_DOUBLE_EQ(loop.useful, 4);
  EXPECT_DOUBLE_EQ(loop.wall, 1.5);
  EXPECT_EQ(loop.count, 2U);
  EXPECT_EQ(find(merged, SiteKind::region).members, 2);
  EXPECT_DOUBLE_EQ(find(merged, SiteKind::call).lost[static_cast<size_t>(Loss::transfer)], 3);
}

TEST(ReportMerge, ASiteIsTheSameWhereAllAroundItAre) {
  MadeUpRun one(1, 2);
  one.add(SiteKind::loop, 12, one.add_region(10, 2));
  MadeUpRun other(1, 2);
  other.add(SiteKind::loop, 12, other.add_region(11, 2));
  other.report.run.rank = 1;
  one.report.run.rank = 0;
  const Report merged = merge({one.report, other.report});
  ASSERT_EQ(merged.sites.size(), 5U);
  EXPECT_EQ(merged.sites[2].parent, 1);
  EXPECT_EQ(merged.sites[4].parent, 3);
}

TEST(ReportMerge, CallsOfOneLineAreToldApartByTheirName) {
  MadeUpRun one(1, 2);
  one.at(one.add(SiteKind::call, 12)).callee = "MPI_Send";
  one.at(one.add(SiteKind::call, 12)).callee = "MPI_Recv";
  EXPECT_EQ(merge({one.report, one.report}).sites.size(), 3U);
}

TEST(ReportMerge, TheFactorsAreThoseOfAllCpus) {
  const Report merged = merge({rank(0, 2, 3, 0.5), rank(1, 2, 1, 2.5)});
  EXPECT_EQ(merged.run.cpus, 4);
  EXPECT_DOUBLE_EQ(merged.run.seconds, 2);
  EXPECT_EQ(merged.run.rank, -1);
  EXPECT_EQ(merged.run.ranks, 2);
  EXPECT_DOUBLE_EQ(factors_of(merged).parallel_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(factors_of(merged).each[static_cast<size_t>(Loss::transfer)], 1 - 3.0 / 8);
}

TEST(ReportMerge, ARankThatEndsEarlierLeavesItsCpusToNobody) {
  const Report merged = merge({rank(0, 2, 3, 0.5), rank(1, 1, 1, 0.5)});
  EXPECT_DOUBLE_EQ(merged.sites[0].lost[static_cast<size_t>(Loss::imbalance)], 2);
  EXPECT_DOUBLE_EQ(handed_out(merged), merged.run.cpus * merged.run.seconds);
  EXPECT_DOUBLE_EQ(factors_of(merged).parallel_efficiency, 0.5);
}

TEST(ReportMerge, TheRanksAreListedByTheirNumber) {
  Report failed = rank(0, 2, 3, 0.5);
  failed.run.exit_code = 134;
  const Report merged = merge({rank(1, 2, 1, 2.5), failed});
  ASSERT_EQ(merged.ranks.size(), 2U);
  EXPECT_EQ(merged.ranks[0].rank, 0);
  EXPECT_EQ(merged.ranks[0].exit_code, 134);
  EXPECT_EQ(merged.run.exit_code, 134);
  EXPECT_EQ(merged.ranks[1].cpus, 2);
  EXPECT_DOUBLE_EQ(merged.ranks[1].useful, 1);
  EXPECT_DOUBLE_EQ(merged.ranks[1].efficiency, 0.25);
  EXPECT_DOUBLE_EQ(merged.ranks[1].waited, 1.25);
  EXPECT_DOUBLE_EQ(merged.ranks[1].lost[static_cast<size_t>(Loss::transfer)], 2.5);
  ASSERT_EQ(merged.messages.size(), 2U);
  EXPECT_EQ(merged.messages[0].rank, 0);
  EXPECT_EQ(merged.messages[0].peer, 1);
  EXPECT_EQ(merged.threads[1].name, "rank 1: program");
}

uint64_t ticks_of(const std::vector<Span>& spans) {
  return std::accumulate(spans.begin(), spans.end(), uint64_t{0},
                         [](uint64_t sum, const Span& span) { return sum + span.ticks; });
}

TEST(ReportMerge, TheTimelineHasEachRanksCpusInTurn) {
  Report late = rank(1, 1, 1, 0.5);
  late.run.began = "2030-01-02T03:04:05.500Z";
  const Report merged = merge({rank(0, 2, 3, 0.5), late});
  const Timeline& timeline = merged.timeline;
  ASSERT_EQ(timeline.cpus.size(), 4U);
  for (const std::vector<Span>& cpu : timeline.cpus) EXPECT_EQ(ticks_of(cpu), 200U);
  EXPECT_DOUBLE_EQ(timeline.tick, 1e-2);
  EXPECT_EQ(timeline.cpus[0][0].ticks, 100U);
  // Half a second later, and half a second before the end.
  ASSERT_EQ(timeline.cpus[2].size(), 4U);
  EXPECT_EQ(timeline.cpus[2][0].ticks, 50U);
  EXPECT_EQ(timeline.cpus[2][0].doing, Doing::idle);
  EXPECT_EQ(merged.sites[static_cast<size_t>(timeline.cpus[2][1].site)].kind, SiteKind::loop);
  EXPECT_EQ(merged.sites[static_cast<size_t>(timeline.cpus[2][2].site)].kind, SiteKind::call);
  EXPECT_EQ(timeline.cpus[2][3].doing, Doing::idle);
}

TEST(ReportMerge, AHostWithAnotherDateIsTakenToBeginWithTheOthers) {
  Report other = rank(1, 2, 3, 0.5);
  for (const char* began : {"1970-01-01T00:00:00.000Z", "2030-01-02T07:04:05Z", "nonsense", ""}) {
    other.run.began = began;
    const Report merged = merge({rank(0, 2, 3, 0.5), other});
    EXPECT_EQ(ticks_of(merged.timeline.cpus[2]), 200U) << began;
    EXPECT_EQ(merged.timeline.cpus[2][0].doing, Doing::work) << began;
  }
}

TEST(ReportMerge, TheTimelineOfAnyNumberOfRanksHasABound) {
  std::vector<Report> ranks;
  for (int number = 0; number < 200; ++number) {
    ranks.push_back(rank(number, 2, 3, 0.5));
    ranks.back().run.cpus = 64;
    ranks.back().timeline.cpus.assign(64, std::vector<Span>(200, Span{1, 1, Doing::work}));
    for (std::vector<Span>& cpu : ranks.back().timeline.cpus) {
      for (size_t i = 0; i < cpu.size(); i += 2) cpu[i].doing = Doing::wait;
    }
  }
  const Report merged = merge(std::move(ranks));
  size_t spans = 0;
  for (const std::vector<Span>& cpu : merged.timeline.cpus) spans += cpu.size();
  EXPECT_EQ(merged.timeline.cpus.size(), 200U * 64);
  EXPECT_LE(spans, 350'000U);
}

TEST(ReportMerge, WithoutATimelineThereIsNone) {
  Report none = rank(0, 2, 3, 0.5);
  none.timeline = {};
  EXPECT_EQ(merge({none, none}).timeline.cpus.size(), 4U);
  Report empty;
  empty.sites.emplace_back();
  EXPECT_EQ(merge({empty, empty}).run.cpus, 2);
}

TEST(ReportMerge, NotesOfAllAreSaidOnce) {
  Report one = rank(0, 2, 3, 0.5);
  Report other = rank(1, 2, 3, 0.5);
  one.run.notes = {"all", "one"};
  other.run.notes = {"all"};
  other.run.settings = {{"OMP_NUM_THREADS", "1"}};
  const std::vector<std::string> notes = merge({one, other}).run.notes;
  EXPECT_EQ(notes, (std::vector<std::string>{"all", "Rank 0: one",
                                             "The ranks have different settings: those of rank 0 are shown."}));
}

TEST(ReportMerge, NumbersOfRanksAreShort) {
  EXPECT_EQ(ranks_text({3}), "rank 3");
  EXPECT_EQ(ranks_text({0, 1}), "ranks 0 and 1");
  EXPECT_EQ(ranks_text({0, 2, 3, 4, 5, 9}), "ranks 0, 2 to 5 and 9");
}

// As many CPU seconds for as many CPUs.
TEST(ReportMerge, AdviceIsThatOfARank) {
  MadeUpRun run(2, 2);
  run.report.run.rank = 0;
  const int serial = run.add(SiteKind::serial, 0);
  run.at(serial).useful = 1;
  run.at(serial).wall = 1;
  run.lost(serial, Loss::serial) = 1;
  const int region = run.add_region(10, 2);
  run.at(region).useful = 2;
  run.at(region).wall = 1;
  const std::vector<Advice> alone = advise(run.report);
  ASSERT_EQ(alone.size(), 1U);
  std::vector<Report> ranks;
  for (int number = 0; number < 8; ++number) {
    ranks.push_back(run.report);
    ranks.back().run.rank = number;
  }
  const std::vector<Advice> all = advise(merge(std::move(ranks)));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, "serial_part");
  EXPECT_DOUBLE_EQ(all[0].gain, alone[0].gain);
  EXPECT_EQ(all[0].evidence, alone[0].evidence);
}

// What ranks wait for each other is no fault of a loop.
TEST(ReportMerge, RanksThatWaitGetNoAdviceOnLoops) {
  Report waits = rank(1, 2, 1, 3);
  waits.sites[2].lost = {};
  EXPECT_TRUE(advise(merge({rank(0, 2, 4, 0), waits})).empty());
}

TEST(ReportMerge, IsReadAndCompared) {
  const Report merged = merge({rank(0, 2, 3, 0.5), rank(1, 2, 1, 2.5)});
  const Report back = report_from_json(to_json(merged));
  EXPECT_EQ(to_json(back), to_json(merged));
  const Comparison same = compare({back}, {merged});
  EXPECT_DOUBLE_EQ(same.seconds.difference(), 0);
  for (const ComparedSite& site : same.sites) EXPECT_DOUBLE_EQ(site.lost.difference(), 0) << site.before;
}

}  // namespace
