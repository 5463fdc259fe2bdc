// SPDX-License-Identifier: Apache-2.0
// Nodes as /sys lists them, on copies of what it looks like; and the kernel's calls, as far as one node shows them.
#include "platform/numa.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "made_up_sys.h"

namespace {

using weft::platform::bind_memory;
using weft::platform::format_node_list;
using weft::platform::MemoryPolicy;
using weft::platform::NodeSet;
using weft::platform::NumaNodes;
using weft::platform::parse_node_list;
using weft::tests::text_of;

std::string list(const NodeSet& nodes) {
  std::string text(format_node_list(nodes, nullptr, 0), ' ');
  format_node_list(nodes, text.data(), text.size() + 1);
  return text;
}

TEST(NodeSet, Lists) {
  for (const char* text : {"", "0", "0-3", "1,3,5", "0-1,63-64,1023"}) EXPECT_EQ(list(parse_node_list(text)), text);
  EXPECT_EQ(list(parse_node_list("1022-4000\n")), "1022-1023");
  EXPECT_EQ(list(parse_node_list("garbage")), "");
}

TEST(NodeSet, Elements) {
  NodeSet set = parse_node_list("2,64,200");
  EXPECT_EQ(set.count(), 3);
  EXPECT_EQ(set.next(3), 64);
  EXPECT_EQ(set.next(201), -1);
  EXPECT_EQ(set.next(NodeSet::kMost), -1);
  set.add(-1);
  set.add(NodeSet::kMost);
  EXPECT_EQ(set.count(), 3);
  EXPECT_FALSE(set.has(-1));
  EXPECT_FALSE(set.has(NodeSet::kMost));
  set.keep_only(parse_node_list("64-199"));
  EXPECT_EQ(list(set), "64");
}

class NumaSys : public weft::tests::MadeUpSys {
 protected:
  std::unique_ptr<NumaNodes> nodes() const { return std::make_unique<NumaNodes>(root_.c_str()); }
  // Nodes and their CPUs, with distances 10 and 21.
  void make_nodes(const std::string& online, std::initializer_list<std::pair<int, const char*>> cpus) const {
    write("node/online", online);
    for (const auto& [node, of_node] : cpus) {
      const std::string folder = "node/node" + std::to_string(node) + "/";
      write(folder + "cpulist", of_node);
      std::string row;
      for (const auto& [other, unused] : cpus) row += other == node ? "10 " : "21 ";
      write(folder + "distance", row);
    }
  }
};

TEST_F(NumaSys, TwoNodes) {
  make_nodes("0-1", {{0, "0-1"}, {1, "2-3"}});
  write("node/has_memory", "0-1");
  const auto found = nodes();
  EXPECT_TRUE(found->known());
  EXPECT_EQ(list(found->online()), "0-1");
  EXPECT_EQ(list(found->with_cpus()), "0-1");
  EXPECT_EQ(list(found->with_memory()), "0-1");
  EXPECT_EQ(found->node_of_cpu(1), 0);
  EXPECT_EQ(found->node_of_cpu(2), 1);
  EXPECT_EQ(found->node_of_cpu(4), -1);
  EXPECT_EQ(found->node_of_cpu(-1), -1);
  EXPECT_EQ(text_of(found->cpus_of(1)), "2-3");
  EXPECT_EQ(found->distance(0, 0), 10);
  EXPECT_EQ(found->distance(0, 1), 21);
  EXPECT_EQ(found->distance(0, 2), 0);
}

TEST_F(NumaSys, HolesInTheNumbersAndNodesWithoutCpusOrMemory) {
  make_nodes("0,2,5-6", {{0, "0-3"}, {2, "4-7"}, {5, ""}, {6, "8"}});
  write("node/node2/distance", "31 10 17 40");
  write("node/has_memory", "0,2,5");
  const auto found = nodes();
  EXPECT_EQ(list(found->online()), "0,2,5-6");
  EXPECT_EQ(list(found->with_cpus()), "0,2,6");
  EXPECT_EQ(list(found->with_memory()), "0,2,5");
  EXPECT_EQ(found->distance(2, 0), 31);
  EXPECT_EQ(found->distance(2, 5), 17);
  EXPECT_EQ(found->distance(2, 6), 40);
  EXPECT_EQ(found->distance(6, 6), 10);
  EXPECT_EQ(found->distance(1, 0), 0);
}

TEST_F(NumaSys, MemoryOfANodeByItsOwnFile) {
  make_nodes("0-1", {{0, "0"}, {1, "1"}});
  write("node/node0/meminfo", "Node 0 MemTotal:       16384 kB");
  write("node/node1/meminfo", "Node 1 MemTotal:       0 kB");
  EXPECT_EQ(list(nodes()->with_memory()), "0");
}

TEST_F(NumaSys, WhatIsMissingOrGarbage) {
  const auto none = nodes();
  EXPECT_FALSE(none->known());
  EXPECT_EQ(list(none->online()), "0");
  EXPECT_EQ(list(none->with_memory()), "0");
  EXPECT_EQ(none->node_of_cpu(7), 0);
  EXPECT_EQ(none->distance(0, 0), 10);
  write("node/online", "nonsense");
  EXPECT_FALSE(nodes()->known());
  write("node/online", "0-1");
  write("node/node0/cpulist", "zero");
  write("node/node0/distance", "10");
  const auto half = nodes();
  EXPECT_TRUE(half->known());
  EXPECT_TRUE(half->with_cpus().empty());
  EXPECT_EQ(half->distance(0, 0), 10);
  EXPECT_EQ(half->distance(0, 1), 0);
  EXPECT_EQ(half->distance(1, 1), 0);
}

// Kernels without NUMA, and sandboxes, have no such calls.
bool absent(int error) { return error == ENOSYS || error == EPERM; }

class NumaCalls : public testing::Test {
 protected:
  static constexpr size_t kPages = 3;
  NumaCalls() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* mapped = mmap(nullptr, kPages * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory_ = static_cast<char*>(mapped);
    madvise(memory_, kPages * page_, MADV_NOHUGEPAGE);
    *memory_ = 1;
    int policy = 0;
    NodeSet nodes;
    if (absent(weft::platform::get_thread_policy(policy, nodes))) skip_ = true;
  }
  ~NumaCalls() override { munmap(memory_, kPages * page_); }
  void SetUp() override {
    if (skip_) GTEST_SKIP() << "no NUMA in the kernel";
  }

  const size_t page_;
  char* memory_ = nullptr;
  bool skip_ = false;
};

TEST_F(NumaCalls, PagesAreFoundAndNotTouched) {
  void* pages[] = {memory_, memory_ + page_, nullptr};
  int found[] = {-1, -1, -1};
  errno = 7;
  ASSERT_EQ(weft::platform::query_pages(0, 3, pages, found), 0);
  EXPECT_EQ(errno, 7);
  EXPECT_TRUE(NumaNodes("").online().has(found[0]));
  EXPECT_LT(found[1], 0);
  EXPECT_LT(found[2], 0);
  ASSERT_EQ(weft::platform::query_pages(getpid(), 1, pages + 1, found), 0);
  EXPECT_LT(found[0], 0);
}

TEST_F(NumaCalls, PagesOfNobody) {
  void* pages[] = {memory_};
  int found[] = {0};
  EXPECT_EQ(weft::platform::query_pages(INT32_MAX, 1, pages, found), ESRCH);
}

TEST_F(NumaCalls, PolicyOfMemory) {
  const int node = NumaNodes("").with_memory().first();
  NodeSet wanted;
  wanted.add(node);
  ASSERT_EQ(bind_memory(memory_, page_, MemoryPolicy::bind, wanted, 0), 0);
  int policy = -1;
  NodeSet nodes;
  ASSERT_EQ(weft::platform::get_memory_policy(memory_, policy, nodes), 0);
  EXPECT_EQ(policy, static_cast<int>(MemoryPolicy::bind));
  EXPECT_EQ(list(nodes), std::to_string(node));
  ASSERT_EQ(weft::platform::get_memory_policy(memory_ + page_, policy, nodes), 0);
  EXPECT_EQ(policy, static_cast<int>(MemoryPolicy::standard));
  void* pages[] = {memory_};
  int status[] = {-1};
  ASSERT_EQ(weft::platform::move_pages(0, 1, pages, &node, status, weft::platform::kMove), 0);
  EXPECT_EQ(status[0], node);
}

TEST_F(NumaCalls, PolicyOfTheThread) {
  const NodeSet all = NumaNodes("").with_memory();
  ASSERT_EQ(weft::platform::set_thread_policy(MemoryPolicy::interleave, all), 0);
  int policy = -1;
  NodeSet nodes;
  ASSERT_EQ(weft::platform::get_thread_policy(policy, nodes), 0);
  EXPECT_EQ(policy, static_cast<int>(MemoryPolicy::interleave));
  EXPECT_EQ(list(nodes), list(all));
  EXPECT_EQ(weft::platform::set_thread_policy(MemoryPolicy::standard, {}), 0);
}

TEST_F(NumaCalls, NodesThatAreNotThere) {
  NodeSet none;
  none.add(NodeSet::kMost - 1);
  errno = 7;
  EXPECT_EQ(bind_memory(memory_, page_, MemoryPolicy::bind, none, 0), EINVAL);
  EXPECT_EQ(weft::platform::set_thread_policy(MemoryPolicy::bind, {}), EINVAL);
  EXPECT_EQ(errno, 7);
}

TEST_F(NumaCalls, CurrentNode) { EXPECT_TRUE(NumaNodes("").online().has(weft::platform::current_node())); }

}  // namespace
