// SPDX-License-Identifier: Apache-2.0
// A machine and a program that are not there: nodes, files of /proc, pages, arrays and touches of the test's choice.
#pragma once

#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "made_up_sys.h"
#include "numa/evidence.h"
#include "numa/report.h"

namespace weft::tests {

using tools::numa::ArrayRow;
using tools::numa::Evidence;
using tools::numa::RecordedArray;
using tools::numa::RecordedTouch;
using tools::numa::Report;
using tools::numa::Verdict;

class MadeUpKernel : public tools::numa::Kernel {
 public:
  explicit MadeUpKernel(const std::string& root) : nodes_(root.c_str()) {}

  const platform::NumaNodes& nodes() const override { return nodes_; }
  int read(const std::string& file, std::string& text) const override {
    const auto found = files.find(file);
    if (found == files.end()) return ENOENT;
    text = found->second;
    return 0;
  }
  std::vector<int> numbers_in(const std::string& folder) const override {
    const auto found = numbers.find(folder);
    return found != numbers.end() ? found->second : std::vector<int>();
  }
  std::vector<std::string> files_of(pid_t) const override { return open_files; }
  int query_pages(pid_t, const std::vector<uint64_t>& pages, std::vector<int>& found) const override {
    found.clear();
    for (const uint64_t page : pages) found.push_back(node_of(page));
    return error;
  }

  std::map<std::string, std::string> files;
  std::map<std::string, std::vector<int>> numbers;
  std::function<int(uint64_t page)> node_of = [](uint64_t) { return -ENOENT; };
  std::vector<std::string> open_files;
  int error = 0;

 private:
  const platform::NumaNodes nodes_;
};

class MadeUpMachine : public MadeUpSys {
 protected:
  static constexpr uint64_t kMegabyte = 1 << 20;
  using Where = std::function<int(double position)>;  // a node by the place in an array, from 0 to 1

  // Nodes with so many CPUs each; 0: memory alone.
  void make_nodes(const std::vector<int>& numbers, int cpus_each, const std::vector<int>& without_memory = {}) {
    std::string online;
    std::string memory;
    int cpu = 0;
    for (const int node : numbers) {
      online += (online.empty() ? "" : ",") + std::to_string(node);
      bool has_memory = true;
      for (const int other : without_memory) has_memory = has_memory && other != node;
      if (has_memory) memory += (memory.empty() ? "" : ",") + std::to_string(node);
      const std::string folder = "node/node" + std::to_string(node) + "/";
      write(folder + "cpulist",
            cpus_each == 0 ? "" : std::to_string(cpu) + "-" + std::to_string(cpu + cpus_each - 1));
      cpu += cpus_each;
    }
    write("node/online", online);
    write("node/has_memory", memory);
    kernel_ = std::make_unique<MadeUpKernel>(root_.string());
    evidence_.has_record = true;
    evidence_.recorded.touching = weft::numa::Touching::sample;
    evidence_.recorded.ended = 1;
    evidence_.recorded.pid = 100;
  }

  // Threads of which each may run on one node; -1: on all.
  void make_threads(const std::vector<int>& nodes) {
    int number = 100;
    for (const int node : nodes) {
      tools::numa::Thread thread;
      thread.number = number++;
      thread.node = node;
      evidence_.threads.push_back(thread);
    }
  }

  // An array whose pages lie so. Returns its number.
  uint32_t make_array(uint64_t bytes, const Where& lies, int policy = 0) {
    RecordedArray array;
    array.number = ++arrays_;
    array.live = true;
    array.thread = 100;
    array.begin = 0x7f0000000000 + arrays_ * (uint64_t{1} << 36);
    array.bytes = bytes;
    array.site = static_cast<uint32_t>(evidence_.recorded.sites.size());
    array.policy = policy;
    const uint32_t places = weft::numa::places_of(bytes / 4096);
    for (uint32_t i = 0; i < places; ++i) array.node.push_back(lies((i + 0.5) / places));
    evidence_.recorded.sites.push_back({1, bytes, {0x1000, 0x2000}});
    evidence_.recorded.arrays.push_back(array);
    return array.number;
  }

  // Touches by threads that run on these nodes, evenly over the array.
  void touch(uint32_t array, int count, const Where& from, bool first = false) {
    for (int i = 0; i < count; ++i) {
      RecordedTouch touch;
      touch.time = ++time_;
      touch.array = array;
      touch.site = array - 1;
      // In a random order: positions that come early must not belong to one node.
      touch.position = (static_cast<double>(static_cast<uint32_t>(i) * 2654435761U % 65536) + 0.5) / 65536;
      touch.node = from(touch.position);
      touch.thread = 100 + touch.node;
      touch.first = first;
      evidence_.recorded.touches.push_back(touch);
    }
  }

  ArrayRow row() {
    const Report report = analyse(*kernel_, evidence_, nullptr);
    EXPECT_EQ(report.arrays.size(), 1U);
    return report.arrays.empty() ? ArrayRow() : report.arrays.front();
  }
  std::string verdict() { return word_of(row().verdict); }

  static Where on(int node) {
    return [node](double) { return node; };
  }
  static Where halves(int first, int second) {
    return [=](double position) { return position < 0.5 ? first : second; };
  }
  // Page by page, or touch by touch.
  static Where by_turns(std::vector<int> nodes) {
    auto turn = std::make_shared<size_t>(0);
    return [=](double) { return nodes[(*turn)++ % nodes.size()]; };
  }

  std::unique_ptr<MadeUpKernel> kernel_;
  Evidence evidence_;
  uint32_t arrays_ = 0;
  int64_t time_ = 0;
};

}  // namespace weft::tests
