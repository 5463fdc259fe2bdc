// SPDX-License-Identifier: Apache-2.0
// What the kernel tells of accesses: which page faults are first touches, what follows from them and from memory
// samples, and what does not.
#include "numa/kernel_touches.h"

#include <gtest/gtest.h>

#include "made_up.h"
#include "numa/watch.h"

namespace {

using weft::tests::ArrayRow;
using weft::tests::MadeUpMachine;
using namespace weft::tools::numa;

class KernelTouches : public MadeUpMachine {
 protected:
  static constexpr uint64_t kPage = 4096;

  // Two nodes with two CPUs each, and an array of 16 MB that lies so.
  uint32_t two_nodes(const Where& lies) {
    make_nodes({0, 1}, 2);
    evidence_.means = Means::kernel;
    evidence_.recorded.touching = weft::numa::Touching::off;
    evidence_.recorded.ended = 0;
    return make_array(16 * kMegabyte, lies);
  }

  // Of each page of the array from one position to another, one after the other.
  void fault(int cpu, double from = 0, double to = 1, int process = 100) {
    const weft::tests::RecordedArray& array = evidence_.recorded.arrays.front();
    const uint64_t pages = array.bytes / kPage;
    for (auto page = static_cast<uint64_t>(from * static_cast<double>(pages)); page < to * static_cast<double>(pages);
         ++page) {
      touches_.push_back({++time_, array.begin + page * kPage + 8, 0x1000, process, 100 + cpu, cpu});
    }
  }

  // Of threads on the node that `from` says, at random places of the array.
  void sample(int count, const Where& from) {
    const weft::tests::RecordedArray& array = evidence_.recorded.arrays.front();
    const uint64_t words = array.bytes / sizeof(double);
    for (int i = 0; i < count; ++i) {
      const uint64_t word = static_cast<uint64_t>(i) * 2654435761U % words;
      const int cpu = 2 * from(static_cast<double>(word) / static_cast<double>(words));
      touches_.push_back({++time_, array.begin + word * sizeof(double), 0x2000, 100, 100 + cpu, cpu,
                          Source::memory_sample, i % 2 == 0 ? weft::numa::Access::write : weft::numa::Access::read});
    }
  }

  ArrayRow judged() {
    add_touches(touches_, kernel_->nodes(), evidence_);
    return row();
  }

  std::vector<KernelTouch> touches_;
};

TEST_F(KernelTouches, TheFirstOfAPageIsAFirstTouch) {
  two_nodes(halves(0, 1));
  make_threads({0, 1});
  fault(0, 0, 0.5);
  fault(2, 0.5, 1);
  const ArrayRow found = judged();
  EXPECT_EQ(found.first_threads, 2);
  EXPECT_NEAR(found.first_touch.at(1), 0.5, 0.01);
  EXPECT_EQ(found.touches, 0);
  EXPECT_STREQ(word_of(found.verdict), "local");
  EXPECT_TRUE(found.modelled);
}

// Automatic balancing makes them, to know who uses a page.
TEST_F(KernelTouches, LaterOnesAreUses) {
  two_nodes(on(0));
  fault(0);
  for (int i = 0; i < 4; ++i) {
    fault(0, 0, 0.5);
    fault(2, 0.5, 1);
  }
  const ArrayRow found = judged();
  EXPECT_EQ(found.first_threads, 1);
  EXPECT_NEAR(found.remote, 0.5, 0.02);
  EXPECT_STREQ(word_of(found.verdict), "serial_init");
  EXPECT_FALSE(found.modelled);
}

// The first touch was one of those that the kernel has left out.
TEST_F(KernelTouches, OfAnArrayThatWasFullTheyAreUses) {
  const uint32_t array = two_nodes(on(0));
  add_look(evidence_.history[array], std::vector<int>(1024, 0), 10);
  time_ = 20;
  fault(2);
  const ArrayRow found = judged();
  EXPECT_EQ(found.first_threads, 0);
  EXPECT_GT(found.touches, 1000);
  EXPECT_STREQ(word_of(found.verdict), "wrong_node");
}

TEST_F(KernelTouches, OfOthersAndOtherTimesDoNotCount) {
  two_nodes(on(0));
  fault(0, 0, 1, 101);
  evidence_.recorded.arrays.front().born = 1'000'000;
  fault(0);
  EXPECT_EQ(judged().first_threads, 0);
}

// Whoever uses it later is not known, and nothing is claimed.
TEST_F(KernelTouches, WhatIsNotSeenIsNotClaimed) {
  two_nodes(on(0));
  make_threads({-1, -1});
  fault(0);
  const ArrayRow found = judged();
  EXPECT_STREQ(word_of(found.verdict), "unknown");
  EXPECT_NE(found.text.find("touched first from node 0 by one thread"), std::string::npos) << found.text;
  EXPECT_NE(found.text.find("who uses it later was not seen"), std::string::npos) << found.text;
  const auto report = analyse(*kernel_, evidence_, nullptr);
  const auto asks = [](const std::string& note) { return note.find("weft numa --protect") != std::string::npos; };
  EXPECT_TRUE(std::any_of(report.notes.begin(), report.notes.end(), asks));
  EXPECT_EQ(sources_of(evidence_), (std::vector<std::string>{"move_pages", "page_faults"}));
}

TEST_F(KernelTouches, MemorySamplesAreUses) {
  two_nodes(on(0));
  make_threads({0, 1});
  fault(0);
  sample(2000, halves(0, 1));
  const ArrayRow found = judged();
  EXPECT_STREQ(word_of(found.verdict), "serial_init");
  EXPECT_FALSE(found.modelled);
  EXPECT_EQ(found.first_threads, 1);
  EXPECT_EQ(found.touches, 2000);
  EXPECT_EQ(found.writes, 1000);
  EXPECT_NEAR(found.remote, 0.5, 0.05);
  EXPECT_EQ(sources_of(evidence_), (std::vector<std::string>{"move_pages", "page_faults", "memory_samples"}));
  const auto report = analyse(*kernel_, evidence_, nullptr);
  for (const std::string& note : report.notes) EXPECT_EQ(note.find("--protect"), std::string::npos) << note;
  EXPECT_NE(to_text(report).find("page faults and memory samples seen"), std::string::npos);
}

// One thread writes all of it, and is sampled while it does.
TEST_F(KernelTouches, MemorySamplesOfTheInitialisationAreNoUses) {
  two_nodes(on(0));
  make_threads({-1, -1});
  fault(0, 0, 0.5);
  sample(3000, on(0));
  fault(0, 0.5, 1);
  const ArrayRow found = judged();
  EXPECT_EQ(found.touches, 0);
  EXPECT_STREQ(word_of(found.verdict), "unknown");
}

TEST_F(KernelTouches, FewMemorySamplesLeaveTheModel) {
  two_nodes(on(0));
  make_threads({0, 1});
  fault(0);
  sample(10, halves(0, 1));
  const ArrayRow found = judged();
  EXPECT_STREQ(word_of(found.verdict), "serial_init");
  EXPECT_TRUE(found.modelled);
}

// The program is sampled often, and hardly ever there: the array costs little, wherever it lies.
TEST_F(KernelTouches, MemorySamplesOfOtherMemoryLeaveNothingToTheModel) {
  two_nodes(on(0));
  make_threads({0, 1});
  fault(0);
  sample(10, halves(0, 1));
  for (int i = 0; i < 2000; ++i) touches_.push_back({++time_, 0x1000, 0x2000, 100, 100, 0, Source::memory_sample});
  const ArrayRow found = judged();
  EXPECT_STREQ(word_of(found.verdict), "unknown");
  EXPECT_NE(found.text.find("too few touches were seen"), std::string::npos) << found.text;
}

// As older kernels write samples of IBS.
TEST_F(KernelTouches, MemorySamplesWithoutAnAddressTellNothing) {
  two_nodes(on(0));
  make_threads({0, 1});
  fault(0);
  for (int i = 0; i < 2000; ++i) touches_.push_back({++time_, 0, 0x2000, 100, 100, 0, Source::memory_sample});
  EXPECT_TRUE(judged().modelled);
  EXPECT_EQ(sources_of(evidence_), (std::vector<std::string>{"move_pages", "page_faults"}));
  const auto report = analyse(*kernel_, evidence_, nullptr);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_NE(report.notes.front().find("none has told an address"), std::string::npos) << report.notes.front();
}

// Its number goes on with another program, which may have memory at the same place.
TEST_F(KernelTouches, OfAnotherProgramInItsProcessDoNotCount) {
  two_nodes(on(0));
  fault(0, 0, 0.5);
  evidence_.over = time_;
  fault(2, 0.5, 1);
  EXPECT_EQ(judged().first_threads, 1);
}

TEST_F(KernelTouches, WhoTouchesFirstAlone) {
  two_nodes(on(0));
  fault(0);
  fault(2);
  add_touches(touches_, kernel_->nodes(), evidence_);
  forget_later_touches(evidence_);
  EXPECT_EQ(evidence_.recorded.touches.size(), 16 * kMegabyte / kPage);
}

TEST_F(KernelTouches, WhyThereAreNone) {
  two_nodes(on(0));
  kernel_->files["/proc/sys/kernel/perf_event_paranoid"] = "3\n";
  EXPECT_EQ(why_no_events(*kernel_, EACCES, false), "kernel.perf_event_paranoid is 3, 2 allows it to all users");
  kernel_->files["/proc/sys/kernel/perf_event_paranoid"] = "2\n";
  EXPECT_EQ(why_no_events(*kernel_, EINVAL, true), "kernel.perf_event_paranoid is 2, 1 allows it to all users");
  EXPECT_NE(why_no_events(*kernel_, EPERM, false).find("PERFMON"), std::string::npos);
  evidence_.why_no_faults = why_no_events(*kernel_, EMFILE, false);
  const auto report = analyse(*kernel_, evidence_, nullptr);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_NE(report.notes.front().find("page faults are not seen here (perf_event_open: Too many open files)"),
            std::string::npos)
      << report.notes.front();
}

}  // namespace
