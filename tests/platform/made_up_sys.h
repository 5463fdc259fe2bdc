// SPDX-License-Identifier: Apache-2.0
// A folder that looks like the /sys of a machine that is not there.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "platform/cpu_set.h"

namespace weft::tests {

inline std::string text_of(const platform::CpuSet& set) {
  std::string text(format_cpu_list(set, nullptr, 0), ' ');
  format_cpu_list(set, text.data(), text.size() + 1);
  return text;
}

inline platform::CpuSet cpus(const char* list) { return platform::parse_cpu_list(list); }

class MadeUpSys : public testing::Test {
 protected:
  MadeUpSys() { root_ = std::filesystem::path(testing::TempDir()) / ("weft_sys_" + std::to_string(getpid())); }
  ~MadeUpSys() override { std::filesystem::remove_all(root_); }

  // `path` is below /sys/devices.
  void write_device(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / "sys/devices" / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  void write(const std::string& path, const std::string& text) const { write_device("system/" + path, text); }

  // CPUs 0 and 4, 1 and 5 ... share a core; 0, 2, 4, 6 the first socket.
  void make_eight() const {
    for (int cpu = 0; cpu < 8; ++cpu) {
      const std::string folder = "cpu/cpu" + std::to_string(cpu) + "/";
      const int core = cpu % 4;
      write(folder + "topology/core_cpus_list", std::to_string(core) + "," + std::to_string(core + 4));
      write(folder + "topology/package_cpus_list", core % 2 == 0 ? "0,2,4,6" : "1,3,5,7");
      write(folder + "cache/index0/level", "1");
      write(folder + "cache/index0/shared_cpu_list", std::to_string(cpu));
      write(folder + "cache/index1/level", "3");
      write(folder + "cache/index1/shared_cpu_list", core < 2 ? "0-1,4-5" : "2-3,6-7");
    }
    write("node/online", "0,2");
    write("node/node0/cpulist", "0-3");
    write("node/node2/cpulist", "4-7");
  }

  std::filesystem::path root_;
};

}  // namespace weft::tests
