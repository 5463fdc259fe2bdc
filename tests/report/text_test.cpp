// SPDX-License-Identifier: Apache-2.0
// The report on a terminal: what matters most is there, and it fits.
#include "report/text/text.h"

#include <sstream>

#include <gtest/gtest.h>

#include "made_up.h"
#include "report/json/json.h"
#include "report/wording/conclusion.h"
#include "report/wording/numbers.h"

namespace {

using weft::tests::Loss;
using weft::tests::MadeUpRun;
using weft::tests::Report;
using weft::tests::SiteKind;
using namespace weft::tools::report;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Losses of every kind at eight sites with long names, and four pieces of advice.
Report crowded() {
  MadeUpRun run(3.21, 8);
  run.report.run.command = {"./program", std::string(200, 'x')};
  run.report.run.rank = 3;
  run.report.run.ranks = 8;
  run.report.run.exit_code = 1;
  for (int i = 0; i < 8; ++i) {
    const int region = run.add_region(10 + i, 8);
    run.at(region).name = "a_file_with_quite_a_long_name_of_its_own.cpp:" + std::to_string(1000 + i);
    run.at(region).schedule = "dynamic";
    for (size_t k = 0; k < kLosses; ++k) {
      run.at(region).lost[k] = 0.02 * static_cast<double>(i + 1) + 0.01 * static_cast<double>(k);
    }
  }
  std::string words;
  for (int i = 0; i < 60; ++i) words += "words and ";
  for (int i = 0; i < 4; ++i) {
    const std::string number = std::to_string(i);
    run.report.advice.push_back({"lock", 1, "title " + number + " " + words, "evidence",
                                 "action " + number + " " + words, "#pragma omp command " + number, 0.5 - 0.1 * i});
  }
  return run.report;
}

TEST(ReportText, FitsWhateverThereIs) {
  for (const int width : {0, 80, 100, 200}) {
    for (const char* page : {"", "/tmp/weft-report.html"}) {
      const auto lines = lines_of(to_text(crowded(), false, width, page));
      EXPECT_LE(lines.size(), 25U);
      for (const std::string& line : lines) {
        EXPECT_LE(columns(line), static_cast<size_t>(std::max(width, 72))) << line;
      }
    }
  }
}

TEST(ReportText, TheMostValuableIsThere) {
  const std::string text = to_text(crowded(), false, 100, "/tmp/page.html");
  EXPECT_TRUE(has(text, "weft report: ./program xxx")) << text;
  EXPECT_TRUE(has(text, "rank 3 of 8, ended with code 1")) << text;
  EXPECT_TRUE(has(text, "3.21 s on weft, 8 CPUs.")) << text;
  for (const char* number : {"1007", "1006", "1005", "1004", "1003"}) EXPECT_TRUE(has(text, number)) << text;
  EXPECT_FALSE(has(text, "1002")) << text;
  for (const char* number : {"0", "1", "2"}) {
    EXPECT_TRUE(has(text, std::string("title ") + number)) << text;
    EXPECT_TRUE(has(text, std::string("action ") + number)) << text;
  }
  // There is no room for those of the others.
  EXPECT_TRUE(has(text, "command 0")) << text;
  EXPECT_FALSE(has(text, "command 1")) << text;
  EXPECT_FALSE(has(text, "title 3")) << text;
  EXPECT_TRUE(has(text, "(saves up to 500 ms)")) << text;
  EXPECT_TRUE(has(text, "The whole report: /tmp/page.html")) << text;
}

TEST(ReportText, FiguresOfASite) {
  MadeUpRun run(2, 4);
  run.at(0).useful = 5;
  const int region = run.add_region(10, 4);
  run.lost(region, Loss::imbalance) = 2;
  run.lost(region, Loss::overhead) = 0.8;
  run.lost(region, Loss::blocked) = 0.02;  // 0.25 %
  const int serial = run.add(SiteKind::serial, 10);
  run.lost(serial, Loss::serial) = 0.18;
  const std::string text = to_text(run.report, false, 100);
  EXPECT_TRUE(has(text, "2.00 s on weft, 4 CPUs.\n62 % of the CPUs' time was the program's work. Lost:") ||
              has(text, "2.00 s on weft, 4 CPUs.\n63 % of the CPUs' time was the program's work. Lost:"))
      << text;
  EXPECT_TRUE(has(text, "imbalance        25 %    2.00 s")) << text;
  EXPECT_TRUE(has(text, "program.c:10 region")) << text;
  EXPECT_TRUE(has(text, "2.82 s  imbalance 25 %, overhead 10 %\n")) << text;
  EXPECT_TRUE(has(text, "after the region at program.c:10")) << text;
  EXPECT_FALSE(has(text, "blocked")) << text;
  EXPECT_TRUE(has(text, "No advice")) << text;
}

// No advice is no praise: of a run that has not used its CPUs it is said what else has, or what they were lost to.
TEST(ReportText, OtherProcessesHadTheCpus) {
  MadeUpRun run(2, 4);
  run.at(0).useful = 0.24;
  run.report.run.others_cpu = 7.5;
  const int region = run.add_region(10, 4);
  run.lost(region, Loss::imbalance) = 6;
  run.lost(region, Loss::blocked) = 1.76;
  const Conclusion conclusion = conclusion_of(run.report);
  EXPECT_FALSE(conclusion.is_good);
  EXPECT_TRUE(has(conclusion.text, "only 3 % of the CPUs' time")) << conclusion.text;
  EXPECT_TRUE(has(conclusion.text, "Other processes used 7.50 s of the CPUs' time (94 % of all)")) << conclusion.text;
  EXPECT_TRUE(has(conclusion.text, "lost to imbalance (75 %), above all at program.c:10: threads waited"))
      << conclusion.text;
  EXPECT_TRUE(has(to_json(run.report), "\"conclusion\": {\"good\":false,")) << to_json(run.report);
  for (const int width : {72, 100}) {
    const std::string text = to_text(run.report, false, width, "/tmp/page.html");
    EXPECT_TRUE(has(text, "2.00 s on weft, 4 CPUs; other processes used 3.75 of them.")) << text;
    EXPECT_TRUE(has(text, "No advice: only 3 %")) << text;
    EXPECT_LE(lines_of(text).size(), 25U) << text;
  }
}

TEST(ReportText, ThreadsWithoutACpu) {
  MadeUpRun run(2, 4);
  run.at(0).useful = 2;
  run.lost(run.add(SiteKind::serial, 10), Loss::blocked) = 6;
  const std::string text = conclusion_of(run.report).text;
  EXPECT_TRUE(has(text, "without a CPU for 6.00 s (75 % of all CPU time)")) << text;
  EXPECT_TRUE(has(text, "lost to blocked (75 %), above all after the region at program.c:10: threads slept")) << text;
}

TEST(ReportText, LostForReasonsOfTheProgram) {
  MadeUpRun run(2, 4);
  run.at(0).useful = 4;
  run.lost(run.add(SiteKind::serial, 0), Loss::serial) = 4;
  const std::string text = conclusion_of(run.report).text;
  EXPECT_TRUE(has(text, "only 50 %")) << text;
  EXPECT_FALSE(has(text, "processes")) << text;
  EXPECT_TRUE(has(text, "lost to serial (50 %), above all before the first region: no more than one thread")) << text;
}

TEST(ReportText, WellUsedCpus) {
  MadeUpRun run(2, 4);
  run.at(0).useful = 7.9;
  EXPECT_TRUE(conclusion_of(run.report).is_good);
  EXPECT_TRUE(has(to_json(run.report), "\"good\":true"));
  run.report.advice.push_back({"lock", 0, "title", "evidence", "action", "", 0.5});
  EXPECT_FALSE(has(to_json(run.report), "conclusion"));
}

// The same place within two regions is one line.
TEST(ReportText, OneLineForAPlace) {
  MadeUpRun run(2, 4);
  for (int i = 0; i < 2; ++i) {
    const int region = run.add_region(10 + i, 4);
    run.lost(run.add(SiteKind::loop, 30, region), Loss::overhead) = 1;
  }
  const std::string text = to_text(run.report, false, 100);
  EXPECT_TRUE(has(text, "program.c:30 loop    2.00 s")) << text;
}

TEST(ReportText, NothingLost) {
  const std::string text = to_text(MadeUpRun(2, 4).report, false, 100);
  EXPECT_TRUE(has(text, "100 % of the CPUs' time was the program's work.\n")) << text;
  EXPECT_FALSE(has(text, "WHERE")) << text;
  EXPECT_FALSE(to_text(Report(), false, 100).empty());
}

TEST(ReportText, ColourOnlyWhereItIsWanted) {
  EXPECT_FALSE(has(to_text(crowded(), false, 100), "\x1b"));
  const std::string text = to_text(crowded(), true, 100);
  EXPECT_TRUE(has(text, "\x1b[1m"));
  // Without the codes it is the same text.
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = text.find('m', at);
    } else {
      plain += text[at];
    }
  }
  EXPECT_EQ(plain, to_text(crowded(), false, 100));
}

// Names come from files that others have written.
TEST(ReportText, TerminalsAreNotGivenOrders) {
  Report report = crowded();
  report.run.command = {"a\x1b[2J", "b\nc",
                        "\xc2\x9b"
                        "1m",
                        "\xff"};
  report.sites[8].name = "evil\x1b]0;title\x07.c:1";
  report.advice[0].title = "evil\rtitle";
  report.advice[0].action = "evil\x1b[2J";
  report.advice[0].command = "evil\x1b[2J";
  const std::string text = to_text(report, false, 100, "page\x1b[2J");
  EXPECT_EQ(text.find_first_of("\x1b\x07\r\xff"), std::string::npos) << text;
  EXPECT_FALSE(has(text, "\xc2\x9b"));
  EXPECT_TRUE(has(text, "b?c")) << text;
}

TEST(Numbers, AsPeopleReadThem) {
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(seconds_text(123.456), "123 s");
  EXPECT_EQ(seconds_text(3.214), "3.21 s");
  EXPECT_EQ(seconds_text(0.0451), "45.1 ms");
  EXPECT_EQ(seconds_text(0.451), "451 ms");
  EXPECT_EQ(seconds_text(0.99951), "1.00 s");
  EXPECT_EQ(seconds_text(4e-7), "400 ns");
  EXPECT_EQ(seconds_text(1.5e-6), "1.5 us");
  EXPECT_EQ(seconds_text(-0.5), "-500 ms");
  EXPECT_EQ(percent_text(0.214), "21 %");
  EXPECT_EQ(percent_text(0.0042), "0.4 %");
  EXPECT_EQ(percent_text(0), "0 %");
  EXPECT_EQ(count_text(1), "1");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(12345678), "12,345,678");
  EXPECT_EQ(of_these(1, "chunk"), "1 chunk");
  EXPECT_EQ(of_these(2, "chunk"), "2 chunks");
  EXPECT_EQ(power_below(0.3), 1U);
  EXPECT_EQ(power_below(8), 8U);
  EXPECT_EQ(power_below(1e300), uint64_t{1} << 62);
}

TEST(Numbers, ColumnsAreCharacters) {
  EXPECT_EQ(columns("größe"), 5U);
  EXPECT_EQ(shortened("größenordnung", 7), "größe..");
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("short", 1), ".");
  EXPECT_EQ(padded("ä", 3), "ä  ");
  EXPECT_EQ(wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(printable("a\x01"
                      "b\xc3"),
            "a?b?");
}

TEST(ReportText, SaysWhichRankWorkedMostAndWhichLeast) {
  Report report = crowded();
  report.run.rank = -1;
  EXPECT_FALSE(has(to_text(report, false, 100, ""), "balance"));
  report.ranks.resize(3);
  for (int i = 0; i < 3; ++i) report.ranks[static_cast<size_t>(i)].rank = i;
  report.ranks[0].useful = 2;
  report.ranks[1].useful = 4;
  report.ranks[2].useful = 3;
  const std::string text = to_text(report, false, 72, "");
  EXPECT_TRUE(has(text, "Rank 1 worked most (4.00 s), rank 0 least (2.00 s): balance 75 %.")) << text;
  EXPECT_TRUE(has(lines_of(text)[0], ", 3 ranks"));
  EXPECT_LE(lines_of(text).size(), 25U);
}

}  // namespace
