// SPDX-License-Identifier: Apache-2.0
// Looking at a process from outside, and reading what the collector and the kernel say, on made-up ones.
#include "numa/watch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "made_up.h"
#include "numa/mappings.h"

namespace {

using weft::tests::MadeUpMachine;
using weft::tools::numa::Evidence;
using weft::tools::numa::History;
using weft::tools::numa::Recorded;

class Watch : public MadeUpMachine {};

TEST_F(Watch, PagesThatMove) {
  make_nodes({0, 1}, 2);
  make_array(4 * kMegabyte, on(-1));
  evidence_.recorded.pid = 42;
  weft::tools::numa::look(*kernel_, &evidence_.recorded, evidence_);
  const History& history = evidence_.history[1];
  EXPECT_EQ(history.last[0], -1);
  const uint64_t begin = evidence_.recorded.arrays.front().begin;
  kernel_->node_of = [](uint64_t) { return 0; };
  weft::tools::numa::look(*kernel_, &evidence_.recorded, evidence_);
  EXPECT_FALSE(history.moved[0]);
  kernel_->node_of = [&](uint64_t page) { return page < begin + 2 * kMegabyte ? 1 : 0; };
  weft::tools::numa::look(*kernel_, &evidence_.recorded, evidence_);
  EXPECT_TRUE(history.moved.front());
  EXPECT_FALSE(history.moved.back());
  EXPECT_EQ(history.first.front(), 0);
  EXPECT_EQ(history.last.front(), 1);
  EXPECT_EQ(history.looks, 3);
}

TEST_F(Watch, AKernelThatDoesNotSay) {
  make_nodes({0, 1}, 2);
  make_array(4 * kMegabyte, on(-1));
  kernel_->error = ENOSYS;
  weft::tools::numa::look(*kernel_, &evidence_.recorded, evidence_);
  EXPECT_EQ(evidence_.query_error, ENOSYS);
  EXPECT_TRUE(evidence_.history.empty());
}

TEST_F(Watch, Threads) {
  make_nodes({0, 1}, 2);
  kernel_->numbers["/proc/7/task"] = {9, 7, 8, 11};
  const auto thread = [&](int number, const char* name, const char* cpus, int last) {
    const std::string folder = "/proc/7/task/" + std::to_string(number) + "/";
    kernel_->files[folder + "status"] = std::string("Name:\t") + name + "\nCpus_allowed_list:\t" + cpus + "\n";
    std::string stat = std::to_string(number) + " (a) b) S";
    for (int i = 4; i < 39; ++i) stat += " 0";
    kernel_->files[folder + "stat"] = stat + " " + std::to_string(last) + " 0 0\n";
  };
  thread(7, "main", "0-3", 2);
  thread(8, "bound", "2-3", 3);
  thread(9, "weft-numa", "0", 0);
  const auto found = weft::tools::numa::threads_of(*kernel_, 7, 9);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "main");
  EXPECT_EQ(found[0].node, -1);
  EXPECT_EQ(found[0].last_cpu, 2);
  EXPECT_EQ(found[1].node, 1);
  EXPECT_EQ(found[1].cpus, "2-3");
}

TEST_F(Watch, PeersByFiles) {
  make_nodes({0, 1}, 2);
  EXPECT_FALSE(weft::tools::numa::has_peers(*kernel_, 7));
  kernel_->open_files = {"/dev/null", "socket:[12]", "anon_inode:[eventpoll]"};
  EXPECT_FALSE(weft::tools::numa::has_peers(*kernel_, 7));
  kernel_->open_files.emplace_back("anon_inode:[io_uring]");
  EXPECT_TRUE(weft::tools::numa::has_peers(*kernel_, 7));
}

TEST_F(Watch, AllowedNodes) {
  make_nodes({0, 1}, 2);
  EXPECT_EQ(weft::tools::numa::allowed_nodes(*kernel_, "7"), "");
  kernel_->files["/proc/7/status"] = "Name:\tx\nMems_allowed:\t3\nMems_allowed_list:\t0-1\n";
  EXPECT_EQ(weft::tools::numa::allowed_nodes(*kernel_, "7"), "0-1");
}

TEST_F(Watch, Balancing) {
  make_nodes({0, 1}, 2);
  EXPECT_FALSE(balancing_now(*kernel_).known);
  kernel_->files["/proc/vmstat"] = "nr_free_pages 5\nnuma_hint_faults 70\nnuma_hint_faults_local 7\nnuma_pages_migrated 12\n";
  kernel_->files["/proc/sys/kernel/numa_balancing"] = "1\n";
  const auto before = balancing_now(*kernel_);
  EXPECT_TRUE(before.known && before.enabled);
  kernel_->files["/proc/vmstat"] = "numa_hint_faults 170\nnuma_pages_migrated 112\n";
  const auto now = since(before, balancing_now(*kernel_));
  EXPECT_EQ(now.migrated, 100);
  EXPECT_EQ(now.hint_faults, 100);
}

TEST_F(Watch, Mappings) {
  make_nodes({0, 1}, 2);
  make_array(4 * kMegabyte, on(0));
  evidence_.recorded.arrays.front().begin = 0x7f0000001010;
  evidence_.maps =
      "7f0000000000-7f0000500000 rw-p 00000000 00:00 0 \n"
      "garbage\n";
  evidence_.numa_maps =
      "00400000 default file=/usr/bin/x mapped=2 N0=2 kernelpagesize_kB=4\n"
      "01000000 default heap anon=4 dirty=4 N1=4 kernelpagesize_kB=4\n"
      "7f0000000000 default anon=1024 N0=512 N1=512 kernelpagesize_kB=4\n"
      "7f1000000000 interleave:0-1 file=/dev/shm/x N0=1 N1=1 kernelpagesize_kB=2048\n"
      "7f2000000000 default\n"
      "nonsense N0=5\n\n"
      "7fff00000000 prefer:1 stack anon=3 N1=3 Nx=7 N9999=7 kernelpagesize_kB=4\n";
  const auto rows = mappings_of(evidence_);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0].kind, "arrays");
  EXPECT_EQ(rows[0].bytes.at(1), 512U * 4096);
  EXPECT_EQ(rows[1].kind, "shared memory");
  EXPECT_EQ(rows[1].sum, 2U * 2048 * 1024);  // huge pages
  EXPECT_EQ(rows[2].kind, "heap (brk)");
  EXPECT_EQ(rows[3].kind, "stack of the first thread");
  EXPECT_EQ(rows[3].policy, "prefer:1");
  EXPECT_EQ(rows[4].kind, "/usr/bin/x");
}

struct ZeroFree {
  void operator()(void* memory) const { std::free(memory); }
};
using RecordMemory = std::unique_ptr<weft::numa::Record, ZeroFree>;

RecordMemory make_record() {
  RecordMemory record(static_cast<weft::numa::Record*>(std::aligned_alloc(4096, sizeof(weft::numa::Record))));
  std::memset(static_cast<void*>(record.get()), 0, sizeof(weft::numa::Record));
  return record;
}

TEST(RecordFile, NotOne) {
  Recorded recorded;
  const RecordMemory record = make_record();
  EXPECT_FALSE(read_record(*record, recorded));
  record->header.ready.store(1);
  EXPECT_FALSE(read_record(*record, recorded));
  record->header.magic = weft::numa::kMagic;
  record->header.layout = weft::numa::kLayout + 1;
  EXPECT_FALSE(read_record(*record, recorded));
  EXPECT_FALSE(read_record("/nonexistent", recorded));
  EXPECT_FALSE(read_record("/dev/null", recorded));
}

// The program may have written anywhere: any content leads to a report, or to none.
TEST(RecordFile, Garbage) {
  uint64_t state = 12345;
  for (int round = 0; round < 6; ++round) {
    const RecordMemory record = make_record();
    auto* bytes = reinterpret_cast<unsigned char*>(record.get());
    for (size_t i = 0; i < sizeof(weft::numa::Record); i += 1 + state % 7) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      bytes[i] = static_cast<unsigned char>(state >> 56);
    }
    record->header.magic = weft::numa::kMagic;
    record->header.layout = weft::numa::kLayout;
    record->header.ready.store(1);
    if (round % 2 == 0) record->header.sites.store(round % 4 == 0 ? 5 : 100000);
    for (weft::numa::Array& array : record->array) {
      if (round % 3 == 0) array.site %= 8;
      if (round % 3 == 0) array.state.store(weft::numa::ArrayState::live);
    }
    Evidence evidence;
    evidence.has_record = true;
    if (!read_record(*record, evidence.recorded)) continue;
    const weft::tests::MadeUpKernel kernel("/nonexistent");
    const auto report = analyse(kernel, evidence, nullptr);
    EXPECT_FALSE(to_text(report).empty());
    EXPECT_FALSE(weft::tools::numa::to_json({report}).empty());
    EXPECT_FALSE(weft::tools::numa::to_picture({report}).empty());
  }
}

TEST(RecordFile, PlacesAreInTheArrayAndDiffer) {
  for (const uint64_t pages : {1ULL, 2ULL, 1023ULL, 1024ULL, 1025ULL, 1000000ULL, 1ULL << 40}) {
    const uint32_t count = weft::numa::places_of(pages);
    uint64_t before = 0;
    int odd = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t place = weft::numa::place_of(i, count, pages);
      EXPECT_LT(place, pages);
      if (i > 0) { EXPECT_GT(place, before); }
      before = place;
      odd += static_cast<int>(place % 2);
    }
    // Interleaved pages are seen as such.
    if (pages > 2048) { EXPECT_NEAR(odd, count / 2, count / 8); }
  }
}

}  // namespace
