// SPDX-License-Identifier: Apache-2.0
// What is said of programs with a fault: the fault is found where it is, no other one is invented, and the promise can
// be kept.
#include "report/advice/advice.h"

#include <gtest/gtest.h>

#include "made_up.h"

namespace {

using weft::tests::Advice;
using weft::tests::Loss;
using weft::tests::MadeUpRun;
using weft::tests::Report;
using weft::tests::SiteKind;
using weft::tools::report::advise;

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::string kinds(const std::vector<Advice>& all) {
  std::string text;
  for (const Advice& advice : all) text += (text.empty() ? "" : " ") + advice.kind;
  return text;
}

// The only advice.
Advice only(const Report& report) {
  const std::vector<Advice> all = advise(report);
  EXPECT_EQ(all.size(), 1U) << kinds(all);
  if (all.empty()) return {};
  EXPECT_FALSE(all[0].title.empty());
  EXPECT_FALSE(all[0].evidence.empty());
  EXPECT_FALSE(all[0].action.empty());
  EXPECT_LE(all[0].gain, report.run.seconds);
  return all[0];
}

// 4 CPUs, 2 s. A loop by chunks of `length` in a region, with so much of overhead.
MadeUpRun chunked(uint64_t chunks, double length, double overhead, uint64_t count = 1) {
  MadeUpRun run(2, 4);
  const int region = run.add_region(10, 4);
  run.at(region).wall = 2;
  const int loop = run.add(SiteKind::loop, 12, region);
  run.at(loop).schedule = "dynamic";
  run.at(loop).count = count;
  run.at(loop).wall = 2;
  run.set_pieces(loop, chunks, length);
  run.at(loop).iterations = chunks;
  run.lost(loop, Loss::overhead) = overhead;
  return run;
}

TEST(SmallChunks, OfOneIteration) {
  const Advice advice = only(chunked(10'000'000, 0.4e-6, 4).report);
  EXPECT_EQ(advice.kind, "small_chunks");
  EXPECT_EQ(advice.site, 2);
  EXPECT_EQ(advice.title, "The loop at program.c:12 is dealt out in chunks that are too small");
  EXPECT_TRUE(has(advice.evidence, "10,000,000 chunks of 0.4 us") ||
              has(advice.evidence, "10,000,000 chunks of 400 ns"))
      << advice.evidence;
  EXPECT_TRUE(has(advice.evidence, "50 %")) << advice.evidence;
  // 15 us are 37.5 iterations.
  EXPECT_EQ(advice.command, "#pragma omp for schedule(dynamic, 32)");
  EXPECT_TRUE(has(advice.action, "12.8 us")) << advice.action;
  // All of the overhead but a 32nd, on 4 CPUs, and a tenth for caution.
  EXPECT_NEAR(advice.gain, 0.9 * (1 - 1.0 / 32), 0.01);
}

TEST(SmallChunks, EachThreadKeepsEight) {
  // 100 iterations for 4 threads: more than 3 at a time leave fewer than 8 chunks for each.
  EXPECT_EQ(only(chunked(10'000'000, 0.4e-6, 4, 100'000).report).command, "#pragma omp for schedule(dynamic, 2)");
}

TEST(SmallChunks, TooFewIterationsForLarger) {
  EXPECT_EQ(kinds(advise(chunked(10'000'000, 0.4e-6, 4, 1'000'000).report)), "");
}

TEST(SmallChunks, LargeOnesAreNot) { EXPECT_EQ(kinds(advise(chunked(100'000, 40e-6, 3).report)), ""); }

TEST(SmallChunks, CheapOnesAreNot) { EXPECT_EQ(kinds(advise(chunked(7'500'000, 1e-6, 0.45).report)), ""); }

TEST(SmallChunks, BeginningsOfLoopsAreNotTheirs) {
  // A million loops on 4 CPUs take 4 s to begin and to end.
  MadeUpRun run = chunked(100'000'000, 0.03e-6, 4, 1'000'000);
  EXPECT_EQ(kinds(advise(run.report)), "");
}

TEST(SmallChunks, OtherSchedulesAreKept) {
  MadeUpRun run = chunked(10'000'000, 0.4e-6, 4);
  run.at(2).schedule = "guided";
  EXPECT_EQ(only(run.report).command, "#pragma omp for schedule(guided, 32)");
  run.at(2).schedule = "static";
  EXPECT_EQ(kinds(advise(run.report)), "");
}

TEST(SmallChunks, InFortran) {
  MadeUpRun run = chunked(10'000'000, 0.4e-6, 4);
  run.at(2).place.file = "/src/program.f90";
  EXPECT_EQ(only(run.report).command, "!$omp do schedule(dynamic, 32)");
}

TEST(SmallChunks, OfSeveralAtATime) {
  MadeUpRun run = chunked(5'000'000, 0.8e-6, 4);
  run.at(2).iterations = 20'000'000;  // 4 each
  EXPECT_EQ(only(run.report).command, "#pragma omp for schedule(dynamic, 64)");
}

// The same loop called in two regions: two sites, one fault.
TEST(Advice, OneForEachPlace) {
  MadeUpRun run = chunked(5'000'000, 0.4e-6, 2);
  const int other = run.add_region(20, 4);
  const int again = run.add(SiteKind::loop, 12, other);
  run.at(again) = run.at(2);
  run.at(again).parent = other;
  run.lost(again, Loss::overhead) = 2.1;
  const Advice advice = only(run.report);
  EXPECT_EQ(advice.site, again);
  EXPECT_TRUE(has(advice.evidence, "10,000,000 chunks")) << advice.evidence;
  EXPECT_NEAR(advice.gain, 0.9 * 4.1 / 4, 0.04);
}

// A million regions of 2 us on 4 CPUs, of which 0.5 us are work.
MadeUpRun short_regions(double wall, double useful, double overhead, double imbalance, uint64_t count = 1'000'000) {
  MadeUpRun run(2.5, 4);
  const int region = run.add_region(10, 4);
  run.at(region).count = count;
  run.at(region).wall = wall;
  run.set_lengths(region, wall / static_cast<double>(count));
  run.at(region).useful = useful;
  run.lost(region, Loss::overhead) = overhead;
  run.lost(region, Loss::imbalance) = imbalance;
  return run;
}

TEST(ShortLoop, OneThreadWouldBeFaster) {
  const Advice advice = only(short_regions(2, 0.5, 5, 2.5).report);
  EXPECT_EQ(advice.kind, "short_loop");
  EXPECT_EQ(advice.site, 1);
  EXPECT_TRUE(has(advice.evidence, "1,000,000 times")) << advice.evidence;
  EXPECT_TRUE(has(advice.action, "one thread would be faster")) << advice.action;
  EXPECT_NEAR(advice.gain, 1.5, 1e-6);
  EXPECT_EQ(advice.command, "#pragma omp parallel for if(n > N)");
}

TEST(ShortLoop, SeveralThreadsGainAllTheSame) {
  // One thread would take 4 s.
  const Advice advice = only(short_regions(2, 4, 3, 1).report);
  EXPECT_EQ(advice.kind, "short_loop");
  EXPECT_NEAR(advice.gain, 0.7, 1e-6);
  EXPECT_FALSE(has(advice.action, "would be faster")) << advice.action;
}

TEST(ShortLoop, SaysFromHowManyIterationsOn) {
  MadeUpRun run = short_regions(2, 4, 3, 1);
  const int loop = run.add(SiteKind::loop, 10, 1);
  run.at(loop).schedule = "static";
  run.at(1).iterations = 100'000'000;
  // 4 us of loss for 100 iterations, each of which saves 30 ns: 67 make up for it, and twice that is worth it.
  EXPECT_TRUE(has(only(run.report).command, "if(n > 128)")) << only(run.report).command;
}

TEST(ShortLoop, LongerOnesAreNot) { EXPECT_EQ(kinds(advise(short_regions(2, 4, 4, 0, 5'000).report)), ""); }

TEST(ShortLoop, UsefulOnesAreNot) { EXPECT_EQ(kinds(advise(short_regions(2, 6.5, 1, 0.5).report)), ""); }

MadeUpRun uneven(SiteKind kind, const char* schedule, double imbalance) {
  MadeUpRun run(2, 4);
  const int region = run.add_region(10, 4);
  run.at(region).wall = 2;
  run.at(region).count = 100;
  run.set_lengths(region, 20e-3);
  const int site = kind == SiteKind::region ? region : run.add(kind, 12, region);
  run.at(site).schedule = schedule;
  run.at(site).wall = 2;
  run.at(site).count = 100;
  run.at(site).useful = 8 - imbalance;
  run.lost(site, Loss::imbalance) = imbalance;
  return run;
}

TEST(UnevenStatic, ALoop) {
  MadeUpRun run = uneven(SiteKind::loop, "static", 2);
  run.at(2).iterations = 60'000'000;  // 0.1 us each, 600,000 in each loop
  const Advice advice = only(run.report);
  EXPECT_EQ(advice.kind, "uneven_static");
  EXPECT_EQ(advice.site, 2);
  EXPECT_EQ(advice.command, "#pragma omp for schedule(dynamic, 128)");
  EXPECT_NEAR(advice.gain, 0.9 * 2 / 4, 1e-6);
  EXPECT_TRUE(has(advice.evidence, "2.00 s of CPU time, 25 % of all")) << advice.evidence;
}

TEST(UnevenStatic, ALoopOfFewIterations) {
  MadeUpRun run = uneven(SiteKind::loop, "static", 2);
  // 64 iterations of 4.7 us in each loop: two for each of 8 x 4 chunks.
  run.at(2).count = 20'000;
  run.at(2).iterations = 1'280'000;
  EXPECT_EQ(only(run.report).command, "#pragma omp for schedule(dynamic, 2)");
}

// gcc keeps static loops from the runtime.
TEST(UnevenStatic, ARegionOrABarrier) {
  EXPECT_EQ(only(uneven(SiteKind::region, "", 2).report).site, 1);
  EXPECT_EQ(only(uneven(SiteKind::barrier, "", 2).report).site, 2);
  EXPECT_EQ(only(uneven(SiteKind::barrier, "", 2).report).kind, "uneven_static");
}

TEST(UnevenStatic, OtherSchedulesAreNot) {
  EXPECT_EQ(kinds(advise(uneven(SiteKind::loop, "dynamic", 2).report)), "");
  EXPECT_EQ(kinds(advise(uneven(SiteKind::sections, "", 2).report)), "");
}

TEST(UnevenStatic, NoiseIsNot) {
  EXPECT_EQ(kinds(advise(uneven(SiteKind::loop, "static", 0.6).report)), "");
  EXPECT_EQ(kinds(advise(uneven(SiteKind::loop, "static", 0.7).report)), "uneven_static");
}

// Others took a CPU: members wait for the one who was on it.
TEST(UnevenStatic, OtherProcessesAreNot) {
  MadeUpRun run = uneven(SiteKind::loop, "static", 2);
  run.lost(2, Loss::blocked) = 2;
  std::vector<std::string> notes;
  EXPECT_EQ(kinds(advise(run.report, &notes)), "");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(has(notes[0], "2.00 s (25 %")) << notes[0];
  run.lost(2, Loss::blocked) = 0.2;
  EXPECT_NEAR(only(run.report).gain, 0.9 * (2 - 0.2) / 4, 1e-6);
}

// Copies of a loop that the compiler has made.
TEST(UnevenStatic, CopiesOfALine) {
  MadeUpRun run = uneven(SiteKind::loop, "static", 1);
  const int copy = run.add(SiteKind::loop, 12, 1);
  run.at(copy) = run.at(2);
  run.at(copy).place.offset += 100;
  EXPECT_NEAR(only(run.report).gain, 0.9 * 2 / 4, 1e-6);
}

// Two members on 8 CPUs, of which one works for 1 s more than the other: 7 CPUs are charged to it, and half a second is
// gained if they work alike.
TEST(UnevenStatic, IdleCpusPromiseNothing) {
  MadeUpRun run(2, 8);
  const int region = run.add_region(10, 2);
  run.at(region).wall = 2;
  run.at(region).useful = 3;
  run.lost(region, Loss::imbalance) = 7;
  EXPECT_EQ(kinds(advise(run.report)), "uneven_static");
  EXPECT_NEAR(only(run.report).gain, 0.9 * 0.5, 1e-6);
}

TEST(SerialPart, BehindARegion) {
  MadeUpRun run(2, 4);
  const int region = run.add_region(10, 4);
  run.at(region).useful = 4.8;
  const int serial = run.add(SiteKind::serial, 10);
  run.at(serial).wall = 0.8;
  run.at(serial).useful = 0.8;
  run.lost(serial, Loss::serial) = 2.4;
  const Advice advice = only(run.report);
  EXPECT_EQ(advice.kind, "serial_part");
  EXPECT_EQ(advice.site, serial);
  EXPECT_TRUE(has(advice.title, "after the region at program.c:10")) << advice.title;
  EXPECT_TRUE(has(advice.evidence, "With any number of CPUs the run takes at least 800 ms") ||
              has(advice.evidence, "With any number of CPUs the run takes at least 0.80 s"))
      << advice.evidence;
  EXPECT_TRUE(has(advice.evidence, "(40 %)")) << advice.evidence;
  // If all of it ran in parallel 0.6 s were saved.
  EXPECT_NEAR(advice.gain, 0.3, 1e-6);
  EXPECT_TRUE(has(advice.command, "#pragma omp"));
  run.report.run.is_part = true;
  EXPECT_TRUE(has(only(run.report).action, "Python"));
  EXPECT_EQ(only(run.report).command, "");
}

TEST(SerialPart, TheBoundIsThatOfAll) {
  MadeUpRun run(2, 4);
  const int first = run.add(SiteKind::serial, 0);
  run.lost(first, Loss::serial) = 1.2;
  const int second = run.add(SiteKind::serial, 10);
  run.lost(second, Loss::serial) = 1.8;
  const std::vector<Advice> all = advise(run.report);
  ASSERT_EQ(kinds(all), "serial_part serial_part");
  EXPECT_EQ(all[0].site, second);
  EXPECT_TRUE(has(all[1].title, "before the first region")) << all[1].title;
  for (const Advice& advice : all) EXPECT_TRUE(has(advice.evidence, "at least 1.00 s")) << advice.evidence;
}

TEST(SerialPart, WhoSleepsHasNothingToShare) {
  MadeUpRun run(2, 4);
  const int serial = run.add(SiteKind::serial, 10);
  run.at(serial).wall = 0.8;
  run.at(serial).useful = 0.1;
  run.lost(serial, Loss::blocked) = 0.7;
  run.lost(serial, Loss::serial) = 2.4;
  EXPECT_EQ(kinds(advise(run.report)), "");
}

TEST(SerialPart, ALittleIsNone) {
  MadeUpRun run(2, 2);
  const int serial = run.add(SiteKind::serial, 0);
  run.lost(serial, Loss::serial) = 0.14;  // 7 % of the time
  EXPECT_EQ(kinds(advise(run.report)), "");
}

TEST(SingleRegion, OthersWait) {
  MadeUpRun run(2, 4);
  const int region = run.add_region(10, 4);
  run.at(region).useful = 5;
  const int single = run.add(SiteKind::single, 12, region);
  run.at(single).useful = 0.7;
  run.at(single).wall = 0.7;
  run.lost(single, Loss::serial) = 2.1;
  const Advice advice = only(run.report);
  EXPECT_EQ(advice.kind, "single_region");
  EXPECT_EQ(advice.site, single);
  EXPECT_EQ(advice.command, "#pragma omp single nowait");
  EXPECT_TRUE(has(advice.title, "single region at program.c:12")) << advice.title;
  EXPECT_NEAR(advice.gain, 0.9 * 2.1 / 4, 1e-6);
}

TEST(SingleRegion, MaskedHasNoNowait) {
  MadeUpRun run(2, 4);
  const int masked = run.add(SiteKind::masked, 12, run.add_region(10, 4));
  run.lost(masked, Loss::serial) = 2.1;
  const Advice advice = only(run.report);
  EXPECT_EQ(advice.kind, "single_region");
  EXPECT_FALSE(has(advice.command, "nowait")) << advice.command;
}

TEST(SingleRegion, ThatMakesTasks) {
  MadeUpRun run(2, 4);
  const int region = run.add_region(10, 4);
  const int single = run.add(SiteKind::single, 12, region);
  const int task = run.add(SiteKind::task, 14, region);
  run.set_pieces(task, 40'000, 100e-6);
  run.lost(single, Loss::serial) = 2.1;
  const Advice advice = only(run.report);
  EXPECT_EQ(advice.kind, "single_region");
  EXPECT_TRUE(has(advice.action, "tasks")) << advice.action;
}

// 2 outer members on 8 CPUs, with an inner region that has one.
MadeUpRun nested(int requested) {
  MadeUpRun run(2, 8);
  const int outer = run.add_region(10, 2);
  run.at(outer).wall = 2;
  const int inner = run.add_region(20, 1, outer);
  run.at(inner).requested = requested;
  run.at(inner).count = 100;
  run.at(inner).wall = 2;
  run.at(inner).useful = 4;
  run.set_lengths(inner, 40e-3);
  run.lost(inner, Loss::few_threads) = 12;
  return run;
}

TEST(NestedSerial, ByAVariable) {
  for (const auto& [name, value] : {std::pair("OMP_MAX_ACTIVE_LEVELS", "1"), std::pair("OMP_NESTED", "FALSE")}) {
    MadeUpRun run = nested(8);
    run.report.run.settings[name] = value;
    const Advice advice = only(run.report);
    EXPECT_EQ(advice.kind, "nested_serial");
    EXPECT_EQ(advice.site, 2);
    EXPECT_TRUE(has(advice.action, (std::string(name) + "=" + value).c_str())) << advice.action;
    EXPECT_EQ(advice.command, std::string("env -u ") + name + " weft report -- ./program");
    EXPECT_NEAR(advice.gain, 0.7 * 12 / 8, 1e-6);
  }
}

TEST(NestedSerial, ByAListOfThreads) {
  MadeUpRun run = nested(1);
  run.report.run.settings["OMP_NUM_THREADS"] = "2,1";
  EXPECT_EQ(kinds(advise(run.report)), "nested_serial");
  EXPECT_TRUE(has(only(run.report).command, "env -u OMP_NUM_THREADS"));
  run.report.run.is_part = true;
  EXPECT_EQ(only(run.report).command, "unset OMP_NUM_THREADS");
}

TEST(NestedSerial, ByACall) {
  const Advice advice = only(nested(8).report);
  EXPECT_EQ(advice.kind, "nested_serial");
  EXPECT_TRUE(has(advice.action, "omp_set_max_active_levels")) << advice.action;
}

// It has asked for one thread, so that no limit is to blame; and the outer region is what has too few.
TEST(NestedSerial, OneThreadWasAskedFor) {
  MadeUpRun run = nested(1);
  run.report.run.settings["OMP_MAX_ACTIVE_LEVELS"] = "1";
  EXPECT_EQ(kinds(advise(run.report)), "few_threads");
}

// The wait of outer members is charged to the loop around, and not to be blamed on that loop too.
TEST(NestedSerial, ExplainsTheWaitAround) {
  MadeUpRun run = nested(8);
  const int loop = run.add(SiteKind::loop, 11, 1);
  run.at(loop).schedule = "static";
  run.at(loop).wall = 2;
  run.at(2).parent = loop;
  run.lost(2, Loss::few_threads) = 6;
  run.lost(loop, Loss::imbalance) = 6;
  const Advice advice = only(run.report);
  EXPECT_EQ(advice.kind, "nested_serial");
  EXPECT_NEAR(advice.gain, 0.7 * 12 / 8, 1e-6);
}

TEST(NestedSerial, BusyCpusDoNotMind) {
  MadeUpRun run = nested(8);
  run.report.run.settings["OMP_MAX_ACTIVE_LEVELS"] = "1";
  run.lost(2, Loss::few_threads) = 0;
  run.lost(2, Loss::blocked) = 2;
  EXPECT_EQ(kinds(advise(run.report)), "");
}

// A million tasks of 0.5 us on 4 CPUs, made by a single region.
MadeUpRun tasks(double length, double overhead, double waits) {
  MadeUpRun run(2, 4);
  const int region = run.add_region(10, 4);
  run.at(region).wall = 2;
  const int single = run.add(SiteKind::single, 11, region);
  const int task = run.add(SiteKind::task, 13, region);
  run.set_pieces(task, 1'000'000, length);
  run.at(task).count = 1'000'000;
  run.at(task).wall = 2;
  run.lost(single, Loss::overhead) = overhead;
  run.lost(single, Loss::serial) = waits / 2;
  run.lost(task, Loss::imbalance) = waits / 2;
  return run;
}

TEST(SmallTasks, AllThatIsLostIsTheirs) {
  const Advice advice = only(tasks(0.5e-6, 3, 2).report);
  EXPECT_EQ(advice.kind, "small_tasks");
  EXPECT_EQ(advice.site, 3);
  EXPECT_TRUE(has(advice.evidence, "1,000,000 tasks")) << advice.evidence;
  EXPECT_TRUE(has(advice.action, "30 times")) << advice.action;
  EXPECT_NEAR(advice.gain, 0.8 * (3.0 / 4) * (1 - 1.0 / 30) + 0.5 * (2.0 / 4), 1e-3);
}

TEST(SmallTasks, OfATaskloop) {
  MadeUpRun run = tasks(0.5e-6, 3, 2);
  const int taskloop = run.add(SiteKind::taskloop, 13, 1);
  run.at(taskloop).wall = 2;
  const Advice advice = only(run.report);
  EXPECT_EQ(advice.kind, "small_tasks");
  EXPECT_EQ(advice.command, "#pragma omp taskloop num_tasks(32)");
}

// Tasks that wait for their children are long by the clock.
TEST(SmallTasks, OfARecursion) {
  MadeUpRun run = tasks(0.5e-6, 3, 2);
  run.at(3).lengths.mean = 100e-6;
  EXPECT_EQ(only(run.report).kind, "small_tasks");
}

// A task for each half of a tree: neither has most of the tasks.
TEST(SmallTasks, OfTwoKinds) {
  MadeUpRun run = tasks(0.5e-6, 3, 2);
  const int more = run.add(SiteKind::task, 15, 1);
  run.set_pieces(more, 1'000'100, 0.4e-6);
  const Advice advice = only(run.report);
  EXPECT_EQ(advice.kind, "small_tasks");
  EXPECT_EQ(advice.site, more);
  EXPECT_TRUE(has(advice.evidence, "The same holds for the tasks at program.c:13.")) << advice.evidence;
}

// A few small ones beside large ones do no harm.
TEST(SmallTasks, OfWhichThereAreFew) {
  MadeUpRun run = tasks(0.5e-6, 3, 0);
  run.set_pieces(run.add(SiteKind::task, 15, 1), 1'000'100, 3e-6);
  EXPECT_EQ(kinds(advise(run.report)), "");
}

TEST(SmallTasks, LargeOnesAreNot) { EXPECT_EQ(kinds(advise(tasks(6e-6, 2, 0).report)), ""); }

TEST(SmallTasks, CheapOnesAreNot) { EXPECT_EQ(kinds(advise(tasks(1.9e-6, 0.1, 0.1).report)), ""); }

MadeUpRun locked(SiteKind kind, double waited) {
  MadeUpRun run(2, 4);
  const int region = run.add_region(10, 4);
  run.at(region).useful = 8 - waited;
  const int site = run.add(kind, 12, region);
  run.at(site).count = 1'000'000;
  run.at(site).wall = 1.5;
  run.lost(site, Loss::synchronisation) = waited;
  return run;
}

TEST(Critical, ThreadsWait) {
  const Advice advice = only(locked(SiteKind::critical, 4).report);
  EXPECT_EQ(advice.kind, "critical");
  EXPECT_EQ(advice.site, 2);
  EXPECT_TRUE(has(advice.evidence, "entered 1,000,000 times")) << advice.evidence;
  EXPECT_TRUE(has(advice.evidence, "4.0 us")) << advice.evidence;
  EXPECT_TRUE(has(advice.action, "reduction")) << advice.action;
  EXPECT_NEAR(advice.gain, 0.7, 1e-6);
}

TEST(Critical, OneIsAloneInIt) {
  MadeUpRun run = locked(SiteKind::critical, 2);
  run.lost(2, Loss::serial) = 2;
  EXPECT_NEAR(only(run.report).gain, 0.7, 1e-6);
}

TEST(Lock, ThreadsWait) {
  const Advice advice = only(locked(SiteKind::lock, 4).report);
  EXPECT_EQ(advice.kind, "lock");
  EXPECT_TRUE(has(advice.title, "the lock at program.c:12")) << advice.title;
}

TEST(Lock, OrderedIsNone) { EXPECT_EQ(kinds(advise(locked(SiteKind::ordered, 4).report)), ""); }

MadeUpRun narrow(int members) {
  MadeUpRun run(2, 8);
  const int region = run.add_region(10, members);
  run.at(region).wall = 2;
  run.at(region).useful = 2.0 * members;
  run.lost(region, Loss::few_threads) = 2.0 * (8 - members);
  return run;
}

TEST(FewThreads, ByAVariable) {
  MadeUpRun run = narrow(2);
  run.report.run.settings["OMP_NUM_THREADS"] = "2";
  const Advice advice = only(run.report);
  EXPECT_EQ(advice.kind, "few_threads");
  EXPECT_EQ(advice.title, "OMP_NUM_THREADS=2 leaves CPUs without threads");
  EXPECT_EQ(advice.command, "env -u OMP_NUM_THREADS weft report -- ./program");
  // 12 CPU seconds of work on 8 CPUs: 1.5 s are saved at best.
  EXPECT_NEAR(advice.gain, 0.7 * 1.5, 1e-6);
}

TEST(FewThreads, ByAClause) {
  MadeUpRun run = narrow(2);
  const Advice advice = only(run.report);
  EXPECT_EQ(advice.kind, "few_threads");
  EXPECT_EQ(advice.title, "The parallel region at program.c:10 has only 2 threads");
  EXPECT_TRUE(has(advice.action, "num_threads")) << advice.action;
  EXPECT_EQ(advice.command, "#pragma omp parallel num_threads(8)");
  // The variable gives more than the region has.
  run.report.run.settings["OMP_NUM_THREADS"] = "4";
  EXPECT_TRUE(has(only(run.report).title, "program.c:10"));
  // Only a variable with fewer than the CPUs is to blame.
  run.report.run.settings["OMP_NUM_THREADS"] = "8";
  EXPECT_TRUE(has(only(run.report).title, "program.c:10"));
}

TEST(FewThreads, ByALimit) {
  MadeUpRun run = narrow(2);
  run.at(1).requested = 8;
  EXPECT_TRUE(has(only(run.report).action, "OMP_THREAD_LIMIT")) << only(run.report).action;
  run.report.run.settings["OMP_THREAD_LIMIT"] = "2";
  EXPECT_EQ(only(run.report).title, "OMP_THREAD_LIMIT=2 leaves CPUs without threads");
}

// Somebody has told short ones to have few.
TEST(FewThreads, ShortRegionsMayHaveFew) {
  MadeUpRun run = narrow(1);
  run.at(1).count = 1'000'000;
  run.set_lengths(1, 2e-6);
  EXPECT_EQ(kinds(advise(run.report)), "");
}

MadeUpRun pool(const char* name, double used, double waited) {
  MadeUpRun run(2, 4);
  const int region = run.add_region(10, 4);
  run.lost(region, Loss::blocked) = waited;
  run.report.threads = {{"program", "weft", 3}, {name, "other", used / 2}, {name, "other", used / 2}};
  return run;
}

TEST(OtherPool, OfAKnownLibrary) {
  const Advice advice = only(pool("openblas-3", 3, 2).report);
  EXPECT_EQ(advice.kind, "other_pool");
  EXPECT_EQ(advice.site, 1);
  EXPECT_TRUE(has(advice.title, "OpenBLAS")) << advice.title;
  EXPECT_TRUE(has(advice.evidence, "2 other threads used 3.00 s")) << advice.evidence;
  EXPECT_EQ(advice.command, "OPENBLAS_NUM_THREADS=1 weft report -- ./program");
  EXPECT_NEAR(advice.gain, 0.5 * 2 / 4, 1e-6);
}

TEST(OtherPool, OfAnUnknownOne) {
  const Advice advice = only(pool("boss", 3, 2).report);
  EXPECT_EQ(advice.command, "");
  EXPECT_TRUE(has(advice.evidence, "\"boss\"")) << advice.evidence;
}

TEST(OtherPool, KeptByAVariable) {
  MadeUpRun run = pool("boss", 3, 2);
  run.report.run.settings["WEFT_ADOPT_LIBRARIES"] = "false";
  EXPECT_EQ(only(run.report).command, "env -u WEFT_ADOPT_LIBRARIES weft report -- ./program");
}

TEST(OtherPool, IdleOnesAreNone) {
  EXPECT_EQ(kinds(advise(pool("boss", 0.7, 2).report)), "");
  MadeUpRun run = pool("boss", 3, 0.38);
  run.lost(0, Loss::transfer) = 2;
  EXPECT_EQ(kinds(advise(run.report)), "");
  run.lost(1, Loss::blocked) = 0.42;
  EXPECT_EQ(kinds(advise(run.report)), "other_pool");
}

TEST(Others, WhatTheyTakeIsNoUnevenWork) {
  MadeUpRun run = uneven(SiteKind::region, "", 2);
  run.report.run.others_cpu = 2.5;
  std::vector<std::string> notes;
  EXPECT_EQ(kinds(advise(run.report, &notes)), "");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("Other processes used 2.50 s"), std::string::npos) << notes[0];
}

MadeUpRun on_one_node(double part) {
  MadeUpRun run(2, 8);
  run.report.run.memory_nodes = 2;
  run.report.run.memory_on_one_node = part;
  const int region = run.add_region(10, 8);
  run.at(region).useful = 15.9;
  return run;
}

TEST(OneNode, MembersOnBoth) {
  const Advice advice = only(on_one_node(0.95).report);
  EXPECT_EQ(advice.kind, "one_node");
  EXPECT_EQ(advice.site, 1);
  EXPECT_EQ(advice.gain, 0);
  EXPECT_EQ(advice.command, "weft numa -- ./program");
  EXPECT_TRUE(has(advice.action, "weft run --numa interleave -- ./program")) << advice.action;
}

TEST(OneNode, ComesLast) {
  MadeUpRun run = on_one_node(0.95);
  run.lost(run.add(SiteKind::serial, 0), Loss::serial) = 4;
  EXPECT_EQ(kinds(advise(run.report)), "serial_part one_node");
}

TEST(OneNode, SpreadOrPlacedOrSmall) {
  EXPECT_EQ(kinds(advise(on_one_node(0.6).report)), "");
  MadeUpRun run = on_one_node(0.95);
  run.report.run.settings["WEFT_NUMA"] = "bind=0";
  EXPECT_EQ(kinds(advise(run.report)), "");
  run = on_one_node(0.95);
  run.at(1).members = 4;  // they fit on a node
  EXPECT_EQ(kinds(advise(run.report)), "");
  run = on_one_node(0.95);
  run.report.run.memory_nodes = 1;
  EXPECT_EQ(kinds(advise(run.report)), "");
}

// 3 % of losses of each kind that may be alone, and of all kinds together.
TEST(Clean, SmallLossesAreNoFaults) {
  for (int loss = 0; loss < weft::tools::report::kLosses; ++loss) {
    MadeUpRun run(2, 4);
    const int region = run.add_region(10, 4);
    run.at(region).useful = 7.76;
    run.lost(region, static_cast<Loss>(loss)) = 0.24;
    EXPECT_EQ(kinds(advise(run.report)), "") << word_of(static_cast<Loss>(loss));
  }
  MadeUpRun run(2, 4);
  const int region = run.add_region(10, 4);
  run.at(region).useful = 7.5;
  run.lost(run.add(SiteKind::loop, 11, region), Loss::imbalance) = 0.1;
  run.lost(run.add(SiteKind::single, 12, region), Loss::serial) = 0.1;
  run.lost(run.add(SiteKind::critical, 13, region), Loss::synchronisation) = 0.1;
  run.lost(region, Loss::overhead) = 0.1;
  run.lost(run.add(SiteKind::serial, 0), Loss::serial) = 0.1;
  EXPECT_EQ(kinds(advise(run.report)), "");
}

// 4 % in one place would be worth advice, were it not for the 96 % of work.
TEST(Clean, AllInAllItIsGood) {
  EXPECT_EQ(kinds(advise(locked(SiteKind::critical, 0.32).report)), "");
  MadeUpRun run = locked(SiteKind::critical, 0.32);
  run.lost(0, Loss::transfer) = 0.5;
  EXPECT_EQ(kinds(advise(run.report)), "critical");
}

TEST(Clean, OneCpuWaitsForNobody) {
  MadeUpRun run(2, 1);
  const int serial = run.add(SiteKind::serial, 0);
  run.at(serial).useful = 2;
  EXPECT_EQ(kinds(advise(run.report)), "");
}

TEST(Clean, NothingWasRun) {
  EXPECT_EQ(kinds(advise(Report())), "");
  EXPECT_EQ(kinds(advise(MadeUpRun(0, 4).report)), "");
}

TEST(Advice, NotOfShortRuns) {
  MadeUpRun run = chunked(10'000'000, 0.4e-6, 4);
  run.report.run.samples = 150;
  std::vector<std::string> notes;
  EXPECT_EQ(kinds(advise(run.report, &notes)), "");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(has(notes[0], "program.c:12")) << notes[0];
  EXPECT_TRUE(has(notes[0], "150 samples")) << notes[0];
}

TEST(Advice, NotOfAFewMilliseconds) {
  MadeUpRun run = chunked(35'000, 0.4e-6, 0.014);
  run.report.run.seconds = 0.008;
  run.at(2).wall = 0.008;
  run.report.run.samples = 1000;
  std::vector<std::string> notes;
  EXPECT_EQ(kinds(advise(run.report, &notes)), "");
  EXPECT_TRUE(notes.empty());
}

TEST(Advice, MostValuableFirst) {
  MadeUpRun run = uneven(SiteKind::loop, "static", 1);
  const int critical = run.add(SiteKind::critical, 14, 1);
  run.at(critical).wall = 1;
  run.lost(critical, Loss::synchronisation) = 3;
  run.at(2).useful = 4;
  EXPECT_EQ(kinds(advise(run.report)), "critical uneven_static");
}

// Two kinds that fit the same lost seconds: overhead of small chunks in a region that is short too.
TEST(Advice, NoTwoForTheSameSeconds) {
  MadeUpRun run = chunked(10'000'000, 0.4e-6, 4, 100'000);
  run.at(1).count = 100'000;
  run.set_lengths(1, 20e-6);
  EXPECT_EQ(kinds(advise(run.report)), "small_chunks");
  // What the chunks do not explain is the region's.
  run.lost(1, Loss::overhead) = 3;
  run.at(2).useful = 1;
  run.set_lengths(2, 0.1e-6);
  EXPECT_EQ(kinds(advise(run.report)), "short_loop small_chunks");
}

TEST(Advice, CommandsAreQuoted) {
  MadeUpRun run = narrow(2);
  run.report.run.settings["OMP_NUM_THREADS"] = "2";
  run.report.run.command = {"./my program", "it's", "$HOME", "a=1"};
  EXPECT_EQ(only(run.report).command, "env -u OMP_NUM_THREADS weft report -- './my program' 'it'\\''s' '$HOME' a=1");
}

}  // namespace
