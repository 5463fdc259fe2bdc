// SPDX-License-Identifier: Apache-2.0
// Two sides are compared by what is the same in both, and noise is not called a change.
#include "report/compare/compare.h"

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "made_up.h"
#include "report/compare/match.h"
#include "report/model/constructs.h"

namespace {

using weft::tests::Loss;
using weft::tests::MadeUpRun;
using weft::tests::Report;
using weft::tests::SiteKind;
using namespace weft::tools::report;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string refusal(const std::vector<std::string>& words) {
  try {
    sides_of(words);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

using Files = std::vector<std::string>;

TEST(Sides, OfTheCommandLine) {
  EXPECT_EQ(sides_of({"A", "B"}).before, Files{"A"});
  EXPECT_EQ(sides_of({"A", "B"}).after, Files{"B"});
  EXPECT_EQ(sides_of({"A,A2", "B,B2,B3"}).before, (Files{"A", "A2"}));
  EXPECT_EQ(sides_of({"A,A2", "B,B2,B3"}).after, (Files{"B", "B2", "B3"}));
  EXPECT_EQ(sides_of({"A", "A2", "--", "B"}).before, (Files{"A", "A2"}));
  EXPECT_EQ(sides_of({"A", "A2", "--", "B"}).after, Files{"B"});
}

TEST(Sides, ThatAreNone) {
  EXPECT_TRUE(has(refusal({}), "two reports are wanted"));
  EXPECT_TRUE(has(refusal({"A"}), "two reports are wanted"));
  EXPECT_TRUE(has(refusal({"A", "B", "C"}), "belong together"));
  EXPECT_TRUE(has(refusal({"A,,B", "C"}), "missing"));
  EXPECT_TRUE(has(refusal({"--", "C"}), "empty"));
  EXPECT_TRUE(has(refusal({"C", "--"}), "empty"));
}

// A region with two loops of one function, and a serial part.
MadeUpRun program(int first_line = 10) {
  MadeUpRun run(2, 4);
  const int region = run.add_region(first_line, 4);
  const int one = run.add(SiteKind::loop, first_line + 2, region);
  run.at(one).count = 100;
  const int two = run.add(SiteKind::loop, first_line + 8, region);
  run.at(two).count = 5'000;
  run.add(SiteKind::serial, first_line);
  return run;
}

using Rows = std::vector<std::vector<int>>;

TEST(Match, TheSameProgram) {
  const Report one = program().report;
  const Report two = program().report;
  EXPECT_EQ(match({&one, &two}), (Rows{{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}}));
}

TEST(Match, LinesMayMove) {
  const Report one = program().report;
  Report two = program(17).report;
  // And the compiler numbers its functions anew, in another folder.
  for (Site& site : two.sites) {
    site.place.file = "/elsewhere/program.c";
    site.place.function = "work.omp_fn.7";
  }
  EXPECT_EQ(match({&one, &two}), (Rows{{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}}));
}

TEST(Match, NumbersAreInTheOrderTheyWereMet) {
  const Report one = program().report;
  Report two = program().report;
  std::swap(two.sites[2], two.sites[3]);
  EXPECT_EQ(match({&one, &two}), (Rows{{0, 1, 2, 3, 4}, {0, 1, 3, 2, 4}}));
}

// A new loop stands before the others, and all have moved: what it counts is what nobody has counted.
TEST(Match, ANewLoopStaysAlone) {
  const Report one = program().report;
  MadeUpRun run(2, 4);
  const int region = run.add_region(20, 4);
  run.at(run.add(SiteKind::loop, 21, region)).count = 3;
  run.at(run.add(SiteKind::loop, 24, region)).count = 100;
  run.at(run.add(SiteKind::loop, 30, region)).count = 5'000;
  EXPECT_EQ(match({&one, &run.report}), (Rows{{0, 1, 2, 3, 4, -1}, {0, 1, 3, 4, -1, 2}}));
  // And the other way round.
  EXPECT_EQ(match({&run.report, &one}), (Rows{{0, 1, 2, 3, 4, -1}, {0, 1, -1, 2, 3, 4}}));
}

// Nothing but lines tells them apart.
TEST(Match, WhatIsAtItsLineStays) {
  MadeUpRun one(2, 4);
  one.add(SiteKind::loop, 10);
  one.add(SiteKind::loop, 20);
  MadeUpRun two(2, 4);
  two.add(SiteKind::loop, 10);
  two.add(SiteKind::loop, 20);
  two.add(SiteKind::loop, 30);
  EXPECT_EQ(match({&one.report, &two.report}), (Rows{{0, 1, 2, -1}, {0, 1, 2, 3}}));
}

// One region around the outer loop: the inner constructs are in another one now.
TEST(Match, AnotherRegionAround) {
  MadeUpRun one(2, 4);
  const int loop = one.add(SiteKind::loop, 12, one.add_region(10, 4));
  one.at(loop).place.function = "kernel";
  MadeUpRun two(2, 4);
  const int around = two.add_region(50, 4);
  two.at(around).place.function = "main";
  const int inner = two.add(SiteKind::loop, 13, around);
  two.at(inner).place.function = "kernel";
  EXPECT_EQ(match({&one.report, &two.report}), (Rows{{0, 1, 2, -1}, {0, -1, 2, 1}}));
}

TEST(Match, ByNameWhereNothingElseIsKnown) {
  MadeUpRun one(2, 4);
  MadeUpRun two(2, 4);
  for (const char* name : {"libone.so+0x10", "libtwo.so+0x20"}) {
    one.at(one.add(SiteKind::region, 0)).name = name;
  }
  for (const char* name : {"libtwo.so+0x20", "libthree.so+0x30"}) {
    two.at(two.add(SiteKind::region, 0)).name = name;
  }
  EXPECT_EQ(match({&one.report, &two.report}), (Rows{{0, 1, 2, -1}, {0, -1, 1, 2}}));
}

TEST(Match, ByNameInAnotherRegion) {
  MadeUpRun one(2, 4);
  one.at(one.add(SiteKind::lock, 0, one.add_region(10, 4))).name = "libone.so+0x10";
  MadeUpRun two(2, 4);
  const int other = two.add_region(10, 4);
  two.at(other).place.function = "elsewhere";
  two.at(other).name = "elsewhere.c:10";
  two.at(two.add(SiteKind::lock, 0, other)).name = "libone.so+0x10";
  EXPECT_EQ(match({&one.report, &two.report}), (Rows{{0, 1, 2, -1}, {0, -1, 2, 1}}));
}

TEST(Match, KindsAreKept) {
  MadeUpRun one(2, 4);
  one.add(SiteKind::loop, 10);
  MadeUpRun two(2, 4);
  two.add(SiteKind::sections, 10);
  EXPECT_EQ(match({&one.report, &two.report}), (Rows{{0, 1, -1}, {0, -1, 1}}));
}

Report timed(double seconds, double imbalance) {
  MadeUpRun run = program();
  run.report.run.seconds = seconds;
  run.lost(2, Loss::imbalance) = imbalance;
  run.at(2).useful = 3;
  return run.report;
}

const ComparedSite* named(const Comparison& comparison, const std::string& name) {
  for (const ComparedSite& site : comparison.sites) {
    if (site.before == name || site.after == name) return &site;
  }
  return nullptr;
}

TEST(Compare, OneRunEach) {
  const Comparison comparison = compare({timed(2, 3)}, {timed(1.5, 1)});
  EXPECT_FALSE(comparison.noise_known);
  EXPECT_TRUE(comparison.seconds.clear);
  EXPECT_NEAR(comparison.seconds.difference(), -0.5, 1e-12);
  EXPECT_NEAR(comparison.efficiency.before.median, 1 - 3.0 / 8, 1e-12);
  EXPECT_NEAR(comparison.efficiency.after.median, 1 - 1.0 / 6, 1e-12);
  EXPECT_TRUE(comparison.efficiency.clear);
  EXPECT_TRUE(comparison.factors[static_cast<size_t>(Loss::imbalance)].clear);
  EXPECT_FALSE(comparison.factors[static_cast<size_t>(Loss::serial)].clear);
  // What has changed most comes first: the loop, and the region that it is in.
  EXPECT_EQ(comparison.sites[0].before, "program.c:10");
  EXPECT_EQ(comparison.sites[1].before, "program.c:12");
  for (const size_t i : {0, 1}) {
    EXPECT_NEAR(comparison.sites[i].lost.difference(), -2, 1e-12);
    EXPECT_FALSE(comparison.sites[i].useful.clear);
  }
  const std::string text = to_text(comparison, false, 100);
  EXPECT_TRUE(has(text, "-25.0 %  better")) << text;
  EXPECT_TRUE(has(text, "One run of a side cannot tell")) << text;
}

TEST(Compare, UnderFivePercentOfOneRunIsNothing) {
  Comparison comparison = compare({timed(2, 3)}, {timed(1.91, 3)});
  EXPECT_FALSE(comparison.seconds.clear);
  EXPECT_TRUE(has(to_text(comparison, false, 100), "-4.5 %  no clear change"));
  comparison = compare({timed(2, 3)}, {timed(1.89, 3)});
  EXPECT_TRUE(comparison.seconds.clear);
}

// 37 % and 17 % of the time lost: of 2000 samples that is certain, of 20 it is not. A trace leaves nothing open.
TEST(Compare, FewSamplesOfOneRunLeaveMuchOpen) {
  Report before = timed(2, 3);
  Report after = timed(1.5, 1);
  EXPECT_TRUE(compare({before}, {after}).efficiency.clear);
  before.run.samples = after.run.samples = 20;
  EXPECT_FALSE(compare({before}, {after}).efficiency.clear);
  EXPECT_FALSE(compare({before}, {after}).sites[0].lost.clear);
  EXPECT_TRUE(compare({before}, {after}).seconds.clear);
  EXPECT_TRUE(compare({before, before}, {after, after}).efficiency.clear);
  before.run.is_trace = after.run.is_trace = true;
  EXPECT_TRUE(compare({before}, {after}).efficiency.clear);
}

TEST(Compare, WithinTheSpreadIsNothing) {
  // Medians 2.0 and 1.9; runs of one side differ by 0.2.
  Comparison comparison =
      compare({timed(1.9, 3), timed(2.1, 3), timed(2, 3)}, {timed(1.9, 3), timed(1.95, 3), timed(1.85, 3)});
  EXPECT_TRUE(comparison.noise_known);
  EXPECT_NEAR(comparison.seconds.before.median, 2, 1e-12);
  EXPECT_NEAR(comparison.seconds.after.median, 1.9, 1e-12);
  EXPECT_NEAR(comparison.seconds.before.low, 1.9, 1e-12);
  EXPECT_NEAR(comparison.seconds.before.high, 2.1, 1e-12);
  EXPECT_FALSE(comparison.seconds.clear);
  // The same difference, and quiet runs.
  comparison = compare({timed(1.99, 3), timed(2.01, 3), timed(2, 3)}, {timed(1.9, 3), timed(1.91, 3), timed(1.89, 3)});
  EXPECT_TRUE(comparison.seconds.clear);
  EXPECT_FALSE(has(to_text(comparison, false, 100), "cannot tell"));
  EXPECT_TRUE(has(to_text(comparison, false, 100), "2.00 s +-10.0 ms")) << to_text(comparison, false, 100);
}

TEST(Compare, RunsThatAgreeByChance) {
  EXPECT_FALSE(compare({timed(2, 3), timed(2, 3)}, {timed(1.995, 3), timed(1.995, 3)}).seconds.clear);
  EXPECT_TRUE(compare({timed(2, 3), timed(2, 3)}, {timed(1.98, 3), timed(1.98, 3)}).seconds.clear);
}

// Where one side has one run, nobody knows whether it was a lucky one.
TEST(Compare, OneSideAlone) {
  const Comparison comparison = compare({timed(2, 3), timed(2, 3)}, {timed(1.95, 3)});
  EXPECT_FALSE(comparison.noise_known);
  EXPECT_FALSE(comparison.seconds.clear);
}

TEST(Compare, EvenNumbersOfRuns) {
  EXPECT_NEAR(compare({timed(1, 0), timed(2, 0)}, {timed(1, 0)}).seconds.before.median, 1.5, 1e-12);
}

TEST(Compare, SlowerIsWorse) {
  const std::string text = to_text(compare({timed(2, 1)}, {timed(3, 5)}), false, 100);
  EXPECT_TRUE(has(text, "+50.0 %  worse")) << text;
  // 1 of 8 CPU seconds before, 5 of 12 after.
  EXPECT_TRUE(has(text, "-29.2 points  worse")) << text;
  EXPECT_TRUE(has(text, "+29.2 points  worse")) << text;
  EXPECT_FALSE(has(text, "better")) << text;
}

TEST(Compare, SitesOfOneSideOnly) {
  MadeUpRun before(2, 4);
  before.lost(before.add(SiteKind::critical, 40), Loss::synchronisation) = 2;
  MadeUpRun after(1.5, 4);
  after.at(after.add(SiteKind::taskloop, 50)).useful = 1;
  const Comparison comparison = compare({before.report}, {after.report});
  ASSERT_NE(named(comparison, "program.c:40"), nullptr);
  EXPECT_EQ(named(comparison, "program.c:40")->after, "");
  EXPECT_EQ(named(comparison, "program.c:40")->lost.after.high, 0);
  EXPECT_EQ(named(comparison, "program.c:50")->before, "");
  const std::string text = to_text(comparison, false, 100);
  EXPECT_TRUE(has(text, "program.c:40 critical (only before)")) << text;
  EXPECT_TRUE(has(text, "program.c:50 taskloop (only after)")) << text;
}

// Two serial parts are around the same region, and the compiler has copied the loop.
TEST(Compare, SitesOfAConstructAreOne) {
  MadeUpRun run(2, 4);
  const int first = run.add(SiteKind::serial, 0);
  const int second = run.add(SiteKind::serial, 10);
  for (const int serial : {first, second}) {
    const int region = run.add_region(10, 4, serial);
    for (const uint64_t copy : {1, 2}) {
      const int loop = run.add(SiteKind::loop, 12, region);
      run.at(loop).place.offset += copy;
      run.at(loop).useful = 1;
      run.lost(loop, Loss::overhead) = 0.5;
    }
    run.report.advice.push_back({"small_chunks", region + 1, "", "", "", "", 1});
  }
  const Report made = with_constructs(run.report);
  EXPECT_EQ(made.sites.size(), 5U);  // the program, two serial parts, the region, the loop
  EXPECT_EQ(made.advice[0].site, made.advice[1].site);
  const Comparison comparison = compare({run.report}, {run.report});
  EXPECT_EQ(comparison.sites.size(), 5U);
  ASSERT_NE(named(comparison, "program.c:12"), nullptr);
  EXPECT_NEAR(named(comparison, "program.c:12")->useful.before.median, 4, 1e-12);
  EXPECT_NEAR(named(comparison, "program.c:10")->lost.before.median, 2, 1e-12);
  EXPECT_NEAR(comparison.efficiency.before.median, 1 - 2.0 / 8, 1e-12);
}

// gcc hides static loops from the runtime, and not dynamic ones: the work has not gone.
TEST(Compare, ALoopThatComesToLight) {
  MadeUpRun before(2, 4);
  const int region = before.add_region(10, 4);
  before.at(region).useful = 5;
  before.lost(region, Loss::imbalance) = 3;
  MadeUpRun after(1.3, 4);
  const int loop = after.add(SiteKind::loop, 11, after.add_region(10, 4));
  after.at(loop).useful = 5;
  const Comparison comparison = compare({before.report}, {after.report});
  EXPECT_FALSE(named(comparison, "program.c:10")->useful.clear);
  EXPECT_TRUE(named(comparison, "program.c:10")->lost.clear);
  const std::string text = to_text(comparison, false, 100);
  EXPECT_TRUE(has(text, "program.c:11 loop (only after)")) << text;
  EXPECT_FALSE(has(text, "worse")) << text;
}

TEST(Compare, MovedLinesAreNamed) {
  MadeUpRun before = program();
  before.lost(2, Loss::overhead) = 2;
  const MadeUpRun after = program(17);
  const std::string text = to_text(compare({before.report}, {after.report}), false, 100);
  EXPECT_TRUE(has(text, "program.c:12 -> program.c:19 loop")) << text;
}

TEST(Compare, AdviceThatHasGone) {
  Report before = timed(2, 3);
  before.advice = {{"uneven_static", 2, "Unequal parts", "", "", "", 0.5}, {"lock", 3, "A lock", "", "", "", 0.2}};
  Report after = timed(1.5, 1);
  after.advice = {{"lock", 3, "A lock", "", "", "", 0.2}, {"serial_part", 4, "Serial", "", "", "", 0.1}};
  const Comparison comparison = compare({before}, {after});
  ASSERT_EQ(comparison.gone.size(), 1U);
  EXPECT_EQ(comparison.gone[0].kind, "uneven_static");
  EXPECT_EQ(comparison.gone[0].name, "program.c:12");
  ASSERT_EQ(comparison.come.size(), 1U);
  EXPECT_EQ(comparison.come[0].kind, "serial_part");
  // What is said of one run of two only is noise.
  EXPECT_TRUE(compare({before, timed(2, 3)}, {timed(1.5, 1)}).gone.empty());
}

TEST(Compare, OtherMachines) {
  Report after = timed(1.5, 1);
  after.run.cpus = 8;
  after.run.host = "there";
  after.run.exit_code = 1;
  const std::string text = to_text(compare({timed(2, 3)}, {after}), false, 200);
  EXPECT_TRUE(has(text, "4 before, 8 after")) << text;
  EXPECT_TRUE(has(text, "here before, there after")) << text;
  EXPECT_TRUE(has(text, "ended with an error")) << text;
}

TEST(Compare, ForPrograms) {
  Report before = timed(2, 3);
  before.advice = {{"uneven_static", 2, "Unequal parts", "", "", "", 0.5}};
  const auto json = nlohmann::json::parse(to_json(compare({before, before}, {timed(1.5, 1), timed(1.6, 1)})));
  EXPECT_EQ(json["format"], "weft compare 1");
  EXPECT_EQ(json["runs"]["before"], 2);
  EXPECT_EQ(json["noise_known"], true);
  EXPECT_EQ(json["seconds"]["before"]["median"], 2);
  EXPECT_EQ(json["seconds"]["after"]["low"], 1.5);
  EXPECT_EQ(json["seconds"]["after"]["high"], 1.6);
  EXPECT_EQ(json["seconds"]["clear"], true);
  EXPECT_EQ(json["factors"].size(), 8U);
  EXPECT_EQ(json["sites"][1]["before"], "program.c:12");
  EXPECT_EQ(json["sites"][1]["lost_by_reason"]["imbalance"]["difference"], -2);
  EXPECT_EQ(json["advice"]["gone"][0]["kind"], "uneven_static");
  EXPECT_TRUE(json["advice"]["new"].empty());
}

}  // namespace
