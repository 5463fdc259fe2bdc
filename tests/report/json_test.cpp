// SPDX-License-Identifier: Apache-2.0
// What is written can be read, and what cannot be read is refused with a text that says why.
#include "report/json/json.h"

#include <limits>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "made_up.h"

namespace {

using weft::tests::Doing;
using weft::tests::Loss;
using weft::tests::MadeUpRun;
using weft::tests::Report;
using weft::tests::SiteKind;
using namespace weft::tools::report;
using Json = nlohmann::json;

// Each member has a value of its own.
Report full() {
  MadeUpRun run(2.5, 4);
  Run& r = run.report.run;
  r.command = {"./a b", "\"quoted\"", "new\nline", "ä"};
  r.began = "2030-01-02T03:04:05Z";
  r.exit_code = -3;
  r.process = 4711;
  r.rank = 2;
  r.ranks = 7;
  r.settings = {{"OMP_NUM_THREADS", "4"}, {"OMP_NESTED", ""}};
  r.memory_nodes = 2;
  r.memory_on_one_node = 0.625;
  r.others_cpu = 1.5;
  r.stood_still = 0.75;
  r.deadlock = {"DEADLOCK: 1 thread can never go on:", "  c1 waits for lock 0x10, which it has itself; at f"};
  r.node = {.others = 3, .share = 4.5, .held = 3.25, .lent = 1.75, .borrowed = 0.5, .waited = 0.125};
  r.own_seconds = 2.5;
  r.own_cpu_seconds = 3.5;
  r.notes = {"one", "two"};
  const int region = run.add_region(10, 4);
  run.at(region).requested = 8;
  run.at(region).level = 1;
  run.at(region).place.excerpt = {.first = 9, .lines = {"{", "#pragma omp parallel", "\tä"}};
  const int loop = run.add(SiteKind::loop, 12, region);
  Site& site = run.at(loop);
  site.callee = "MPI_Recv";
  site.schedule = "guided";
  site.count = 11;
  site.iterations = 12;
  site.pieces = 13;
  site.stolen = 14;
  site.wall = 1.1;
  site.useful = 1.0 / 3;
  for (size_t i = 0; i < kLosses; ++i) site.lost[i] = 0.1 * static_cast<double>(i + 1);
  site.lengths.timed = 15;
  site.lengths.mean = 1.6e-7;
  for (size_t i = 0; i < site.lengths.histogram.size(); ++i) site.lengths.histogram[i] = static_cast<double>(i) + 0.5;
  site.place.offset = std::numeric_limits<uint64_t>::max();
  for (int kind = 0; kind <= static_cast<int>(SiteKind::call); ++kind) run.add(static_cast<SiteKind>(kind), 20 + kind);
  run.report.timeline.tick = 1e-3;
  run.report.timeline.cpus = {{{5, 0, Doing::idle}, {6, loop, Doing::work}, {7, region, Doing::runtime}},
                              {{8, region, Doing::wait}, {9, 0, Doing::blocked}},
                              {}};
  run.report.threads = {{"weft-1", "weft", 1.5}, {"boss", "other", 0.25}};
  run.report.messages = {{"MPI_Recv", 3, 17, 0.75, 1}, {"MPI_Barrier", -1, 1, 0, 0}};
  run.report.ranks = {{0, "here", 2.5, 3, 0.5, 1.5, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}, 0.25, 0},
                      {1, "there", 2.25, 1, 0.75, 0.5, {}, 0.125, 134}};
  run.report.advice = {{"small_chunks", loop, "title", "evidence", "action", "command", 0.125}};
  return run.report;
}

TEST(ReportJson, IsReadAsItWasWritten) {
  const std::string text = to_json(full());
  const Report back = report_from_json(text);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.run.command[1], "\"quoted\"");
  EXPECT_EQ(back.run.exit_code, -3);
  EXPECT_EQ(back.run.rank, 2);
  EXPECT_EQ(back.run.settings.at("OMP_NUM_THREADS"), "4");
  EXPECT_EQ(back.run.memory_on_one_node, 0.625);
  EXPECT_EQ(back.run.others_cpu, 1.5);
  EXPECT_EQ(back.run.deadlock, full().run.deadlock);
  EXPECT_EQ(back.run.stood_still, 0.75);
  EXPECT_EQ(back.sites[1].place.excerpt.first, 9);
  EXPECT_EQ(back.sites[1].place.excerpt.lines, full().sites[1].place.excerpt.lines);
  EXPECT_EQ(back.run.node.others, 3);
  EXPECT_EQ(back.run.node.borrowed, 0.5);
  EXPECT_EQ(back.run.own_seconds, 2.5);
  EXPECT_EQ(back.run.own_cpu_seconds, 3.5);
  const Site& loop = back.sites[2];
  EXPECT_EQ(loop.parent, 1);
  EXPECT_EQ(loop.kind, SiteKind::loop);
  EXPECT_EQ(loop.schedule, "guided");
  EXPECT_EQ(loop.stolen, 14U);
  EXPECT_EQ(loop.useful, 1.0 / 3);
  EXPECT_EQ(loop.lost, full().sites[2].lost);
  EXPECT_EQ(loop.lengths.histogram, full().sites[2].lengths.histogram);
  EXPECT_EQ(loop.place.offset, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(back.timeline.cpus[1][1].doing, Doing::blocked);
  EXPECT_EQ(back.timeline.cpus[0][1].site, 2);
  EXPECT_EQ(back.threads[1].cpu, 0.25);
  EXPECT_EQ(back.messages[1].peer, -1);
  EXPECT_EQ(back.messages[0].rank, 1);
  EXPECT_EQ(loop.callee, "MPI_Recv");
  EXPECT_EQ(back.ranks[1].host, "there");
  EXPECT_EQ(back.ranks[0].lost, full().ranks[0].lost);
  EXPECT_EQ(back.ranks[1].exit_code, 134);
  EXPECT_EQ(back.advice[0].gain, 0.125);
}

// docs/explanation/report.md
TEST(ReportJson, HasTheMembersOfTheDocumentation) {
  const Json json = Json::parse(to_json(full()));
  const auto expect_members = [](const Json& object, std::vector<std::string> wanted) {
    std::vector<std::string> found;
    for (const auto& [name, value] : object.items()) found.push_back(name);
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(found, wanted);
  };
  expect_members(
      json, {"format", "run", "headline", "factors", "sites", "timeline", "threads", "messages", "ranks", "advice"});
  EXPECT_EQ(json["format"], "weft report 1");
  expect_members(json["run"], {"command",      "host",
                               "began",        "version",
                               "seconds",      "cpus",
                               "exit_code",    "process",
                               "rank",         "ranks",
                               "samples",      "period",
                               "is_trace",     "settings",
                               "memory_nodes", "memory_on_one_node",
                               "own_seconds",  "own_cpu_seconds",
                               "others_cpu",   "node",
                               "deadlock",     "stood_still",
                               "notes"});
  expect_members(json["run"]["node"], {"others", "share", "held", "lent", "borrowed", "waited"});
  const std::vector<std::string> reasons = {"serial",      "imbalance", "synchronisation", "overhead",
                                            "few_threads", "transfer",  "blocked"};
  std::vector<std::string> factors = reasons;
  factors.push_back("parallel_efficiency");
  expect_members(json["factors"], factors);
  const std::vector<std::string> site = {"parent", "kind",       "name",   "place",  "callee",  "schedule",
                                         "count",  "iterations", "pieces", "stolen", "members", "requested",
                                         "level",  "wall",       "useful", "lost",   "lengths"};
  expect_members(json["sites"][2], site);
  std::vector<std::string> region = site;
  region.push_back("factors");
  expect_members(json["sites"][1], region);
  expect_members(json["sites"][1]["factors"], factors);
  expect_members(json["sites"][2]["place"], {"file", "line", "function", "object", "offset"});
  expect_members(json["sites"][1]["place"], {"file", "line", "function", "object", "offset", "excerpt"});
  expect_members(json["sites"][1]["place"]["excerpt"], {"first", "lines"});
  expect_members(json["sites"][2]["lost"], reasons);
  expect_members(json["sites"][2]["lengths"], {"timed", "mean", "histogram"});
  EXPECT_EQ(json["sites"][2]["lengths"]["histogram"].size(), 40U);
  EXPECT_EQ(json["timeline"]["cpus"][1], Json::parse("[[8,1,3],[9,0,4]]"));
  expect_members(json["timeline"], {"tick", "cpus"});
  expect_members(json["threads"][0], {"name", "whose", "cpu"});
  expect_members(json["messages"][0], {"call", "peer", "count", "waited", "rank"});
  expect_members(json["ranks"][0],
                 {"rank", "host", "seconds", "cpus", "parallel_efficiency", "useful", "lost", "waited", "exit_code"});
  expect_members(json["ranks"][0]["lost"], reasons);
  expect_members(json["advice"][0], {"kind", "site", "title", "evidence", "action", "command", "gain"});
}

TEST(ReportJson, WhatIsNoNumberIsNone) {
  Report report = full();
  report.sites[1].useful = std::numeric_limits<double>::quiet_NaN();
  report.run.period = std::numeric_limits<double>::infinity();
  EXPECT_EQ(report_from_json(to_json(report)).sites[1].useful, 0);
}

TEST(ReportJson, NamesNeedNotBeUtf8) {
  Report report = full();
  report.sites[1].name = "\xff\xfe";
  EXPECT_EQ(report_from_json(to_json(report)).sites[1].name, "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(ReportJson, EmptyLists) {
  const MadeUpRun run(1, 2);
  const Report back = report_from_json(to_json(run.report));
  EXPECT_TRUE(back.timeline.cpus.empty());
  EXPECT_TRUE(back.advice.empty());
  EXPECT_EQ(back.sites.size(), 1U);
}

TEST(ReportJson, EarlierOnesLackTheRanks) {
  Json json = Json::parse(to_json(full()));
  json.erase("ranks");
  for (Json& message : json["messages"]) message.erase("rank");
  for (Json& site : json["sites"]) site.erase("callee");
  const Report back = report_from_json(json.dump());
  EXPECT_TRUE(back.ranks.empty());
  EXPECT_EQ(back.messages[0].rank, -1);
  EXPECT_EQ(back.sites[2].callee, "");
}

TEST(ReportJson, LaterMembersAreLeftOut) {
  Json json = Json::parse(to_json(full()));
  json["more"] = {1, 2, 3};
  json["sites"][0]["colour"] = "red";
  EXPECT_EQ(to_json(report_from_json(json.dump())), to_json(full()));
}

std::string refusal(const std::string& text) {
  try {
    report_from_json(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

// What is said when a value of a good report is replaced.
std::string refusal(const char* pointer, const Json& value) {
  Json json = Json::parse(to_json(full()));
  json[Json::json_pointer(pointer)] = value;
  return refusal(json.dump());
}

TEST(ReportJson, NoReport) {
  EXPECT_EQ(refusal("").rfind("not JSON", 0), 0U);
  EXPECT_EQ(refusal("{\"format\": ").rfind("not JSON", 0), 0U);
  EXPECT_EQ(refusal("1e999").rfind("not JSON", 0), 0U);
  EXPECT_NE(refusal("[]").find("no \"format\""), std::string::npos);
  EXPECT_NE(refusal("{}").find("no \"format\""), std::string::npos);
  EXPECT_NE(refusal(R"({"format": 1})").find("no \"format\""), std::string::npos);
  EXPECT_NE(refusal(R"({"format": "weft report 2"})").find("\"weft report 2\""), std::string::npos);
  EXPECT_NE(refusal(R"({"format": "weft report 1"})").find("run: is missing"), std::string::npos);
}

TEST(ReportJson, TheFaultIsNamed) {
  const auto expect_refused = [](const char* pointer, const Json& value, const char* words) {
    EXPECT_NE(refusal(pointer, value).find(words), std::string::npos) << refusal(pointer, value);
  };
  expect_refused("/run", 1, "run: an object is wanted");
  expect_refused("/run/seconds", "2", "run.seconds: a number is wanted");
  expect_refused("/run/seconds", -1, "run.seconds: is negative");
  expect_refused("/run/cpus", 0, "run.cpus: one CPU");
  expect_refused("/run/cpus", 5'000'000'000, "run.cpus: the number 5000000000 is out of range");
  expect_refused("/run/command", "ls", "run.command: a list is wanted");
  expect_refused("/run/command/1", 7, "run.command[1]: a text is wanted");
  expect_refused("/run/settings/A", 7, "run.settings.A: a text is wanted");
  expect_refused("/sites", Json::array(), "sites: the program itself");
  expect_refused("/sites/1/kind", "banana", "sites[1].kind: \"banana\"");
  expect_refused("/sites/1/count", -1, "sites[1].count: the number -1 is out of range");
  expect_refused("/sites/1/count", 1.5, "sites[1].count: an integer is wanted");
  expect_refused("/sites/1/lost/serial", Json(), "sites[1].lost.serial: a number is wanted");
  expect_refused("/sites/1/parent", 99, "sites[1].parent: there is no site 99");
  expect_refused("/sites/1/parent", -2, "sites[1].parent: there is no site -2");
  expect_refused("/sites/1/parent", 1, "its own ancestor");
  expect_refused("/sites/1/parent", 2, "its own ancestor");
  expect_refused("/sites/1/lengths/histogram/40", 1, "sites[1].lengths.histogram[40]: is one too many");
  expect_refused("/timeline/cpus/0/1/1", 99, "timeline.cpus[0][1][1]: there is no site 99");
  expect_refused("/timeline/cpus/0/1/2", 5, "timeline.cpus[0][1][2]: 0 to 4");
  expect_refused("/timeline/cpus/0/1/3", 5, "timeline.cpus[0][1][3]: is one too many");
  expect_refused("/timeline/cpus/0/1", Json::array({1, 2}), "timeline.cpus[0][1]: three numbers");
  expect_refused("/ranks", 1, "ranks: a list is wanted");
  expect_refused("/ranks/0/cpus", 0, "ranks[0].cpus: one CPU");
  expect_refused("/ranks/1", Json::object(), "ranks[1].rank: is missing");
  expect_refused("/messages/0/rank", "1", "messages[0].rank: an integer is wanted");
  expect_refused("/advice/0/site", 99, "advice[0].site: there is no site 99");
  expect_refused("/advice/0/kind", 1, "advice[0].kind: a text is wanted");
}

// A damaged file is refused or read, and nothing else happens.
TEST(ReportJson, DamagedAtRandom) {
  const std::string good = to_json(full());
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::string text = good;
    for (int k = 0; k < 3; ++k) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text[at] = "0123456789[]{},\"-"[random() % 17]; break;
        default: text.erase(at, random() % 20);
      }
    }
    try {
      to_json(report_from_json(text));
    } catch (const std::runtime_error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 200);
}

}  // namespace
