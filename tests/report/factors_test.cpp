// SPDX-License-Identifier: Apache-2.0
// The factors add up, of the whole run and of its parts.
#include <gtest/gtest.h>

#include "made_up.h"
#include "report/model/tree.h"

namespace {

using weft::tests::Loss;
using weft::tests::MadeUpRun;
using weft::tests::Report;
using weft::tests::SiteKind;
using namespace weft::tools::report;

double each(const Factors& factors, Loss loss) { return factors.each[static_cast<size_t>(loss)]; }

// 16 CPU seconds: 2 serial, 3 in a region of which 1 is lost, 3 in one with another inside; the rest is work.
class FactorsTest : public testing::Test {
 protected:
  FactorsTest() : run_(2, 8) {
    serial_ = run_.add(SiteKind::serial, 0);
    run_.lost(serial_, Loss::serial) = 2;
    first_ = run_.add_region(10, 8);
    run_.at(first_).useful = 2;
    loop_ = run_.add(SiteKind::loop, 12, first_);
    run_.lost(loop_, Loss::overhead) = 1;
    second_ = run_.add_region(20, 2);
    run_.at(second_).useful = 1;
    inner_ = run_.add_region(25, 3, second_);
    run_.at(inner_).useful = 0.5;
    run_.lost(inner_, Loss::imbalance) = 1;
    run_.lost(second_, Loss::few_threads) = 0.5;
  }

  MadeUpRun run_;
  int serial_ = 0;
  int first_ = 0;
  int loop_ = 0;
  int second_ = 0;
  int inner_ = 0;
};

TEST_F(FactorsTest, OfTheRun) {
  const Factors factors = factors_of(run_.report);
  EXPECT_NEAR(factors.parallel_efficiency, 1 - 4.5 / 16, 1e-12);
  EXPECT_NEAR(each(factors, Loss::serial), 1 - 2.0 / 16, 1e-12);
  EXPECT_NEAR(each(factors, Loss::overhead), 1 - 1.0 / 16, 1e-12);
  EXPECT_EQ(each(factors, Loss::transfer), 1);
  double lost = 0;
  for (const double factor : factors.each) lost += 1 - factor;
  EXPECT_NEAR(factors.parallel_efficiency, 1 - lost, 1e-12);
}

TEST_F(FactorsTest, OfTheProgramAreThoseOfTheRun) {
  EXPECT_EQ(factors_of(run_.report, 0).each, factors_of(run_.report).each);
  EXPECT_EQ(factors_of(run_.report, 0).parallel_efficiency, factors_of(run_.report).parallel_efficiency);
}

TEST_F(FactorsTest, OfARegionAreOfItsOwnTime) {
  EXPECT_NEAR(factors_of(run_.report, first_).parallel_efficiency, 2.0 / 3, 1e-12);
  EXPECT_NEAR(each(factors_of(run_.report, first_), Loss::overhead), 2.0 / 3, 1e-12);
  EXPECT_NEAR(factors_of(run_.report, second_).parallel_efficiency, 1.5 / 3, 1e-12);
  EXPECT_NEAR(each(factors_of(run_.report, second_), Loss::imbalance), 2.0 / 3, 1e-12);
  EXPECT_NEAR(each(factors_of(run_.report, inner_), Loss::imbalance), 0.5 / 1.5, 1e-12);
  EXPECT_EQ(each(factors_of(run_.report, inner_), Loss::few_threads), 1);
}

TEST(Factors, OfNothing) {
  EXPECT_EQ(factors_of(Report()).parallel_efficiency, 1);
  MadeUpRun run(2, 8);
  const int region = run.add_region(10, 8);
  EXPECT_EQ(factors_of(run.report, region).parallel_efficiency, 1);
}

TEST(Factors, AreNeverNegative) {
  MadeUpRun run(1, 2);
  run.lost(0, Loss::blocked) = 2.01;
  EXPECT_EQ(factors_of(run.report).parallel_efficiency, 0);
}

TEST_F(FactorsTest, Tree) {
  EXPECT_EQ(parent_of(run_.report, 0), -1);
  EXPECT_EQ(parent_of(run_.report, inner_), second_);
  run_.at(first_).parent = -1;
  EXPECT_EQ(parent_of(run_.report, first_), 0);
  EXPECT_EQ(sites_within(run_.report, second_), (std::vector<int>{second_, inner_}));
  EXPECT_EQ(sites_within(run_.report, 0).size(), run_.report.sites.size());
  EXPECT_EQ(region_around(run_.report, loop_), first_);
  EXPECT_EQ(region_around(run_.report, inner_), inner_);
  EXPECT_EQ(region_around(run_.report, serial_), -1);
  EXPECT_EQ(width_of(run_.report, loop_), 8);
  EXPECT_EQ(width_of(run_.report, second_), 2);
  EXPECT_EQ(width_of(run_.report, inner_), 6);
  run_.at(inner_).members = 1'000'000'000;
  EXPECT_EQ(width_of(run_.report, inner_), 8);
  EXPECT_EQ(width_of(run_.report, serial_), 1);
}

}  // namespace
