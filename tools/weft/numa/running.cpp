// SPDX-License-Identifier: Apache-2.0
#include "numa/running.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>

#include "numa/watch.h"

namespace weft::tools::numa {

namespace {

std::string proc(int pid, const std::string& name) { return "/proc/" + std::to_string(pid) + "/" + name; }

struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string access;  // rw-p
  std::string name;
};

bool parse(const std::string& line, Mapping& mapping) {
  std::istringstream words(line);
  std::string range;
  std::string offset;
  std::string device;
  std::string inode;
  if (!(words >> range >> mapping.access >> offset >> device >> inode)) return false;
  std::getline(words >> std::ws, mapping.name);
  const char* const last = range.data() + range.size();
  const auto [dash, fault] = std::from_chars(range.data(), last, mapping.begin, 16);
  if (fault != std::errc() || dash == last || *dash != '-') return false;
  return std::from_chars(dash + 1, last, mapping.end, 16).ec == std::errc() && mapping.end > mapping.begin;
}

// The record that the process has mapped, if a collector is in it.
bool find_record(int pid, const std::string& maps, Recorded& recorded) {
  const std::string of_process = "/" + std::to_string(pid) + ".";
  std::istringstream lines(maps);
  Mapping mapping;
  for (std::string line; std::getline(lines, line);) {
    if (!parse(line, mapping) || mapping.name.find("/weft-numa-") == std::string::npos) continue;
    if (mapping.name.find(of_process) == std::string::npos) continue;
    // It may have another root.
    for (const std::string& root : {std::string(), proc(pid, "root")}) {
      if (read_record(root + mapping.name, recorded) && recorded.pid == pid) return true;
      recorded = Recorded();
    }
  }
  return false;
}

// Private memory without a file stands for arrays.
void mappings_as_arrays(int pid, const std::string& maps, uint64_t least_size, Recorded& recorded) {
  recorded.pid = pid;
  recorded.least_size = least_size;
  recorded.sites.push_back({});
  std::istringstream lines(maps);
  Mapping mapping;
  for (std::string line; std::getline(lines, line);) {
    if (!parse(line, mapping) || mapping.access.size() < 4 || mapping.access[1] != 'w' || mapping.access[3] != 'p')
      continue;
    if (!mapping.name.empty() && mapping.name != "[heap]") continue;
    if (mapping.end - mapping.begin < least_size) continue;
    RecordedArray array;
    array.number = static_cast<uint32_t>(recorded.arrays.size() + 1);
    array.live = true;
    array.begin = mapping.begin;
    array.bytes = mapping.end - mapping.begin;
    array.how = weft::numa::How::mapped;
    recorded.arrays.push_back(array);
  }
}

}  // namespace

std::string command_of(const Kernel& kernel, int pid) {
  std::string text;
  kernel.read(proc(pid, "cmdline"), text);
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

bool look_at_running(const Kernel& kernel, int pid, uint64_t least_size, Evidence& evidence, std::string& why) {
  std::string status;
  if (kernel.read(proc(pid, "status"), status) != 0) {
    why = "there is no such process";
    return false;
  }
  const int error = kernel.read(proc(pid, "maps"), evidence.maps);
  if (error == EACCES || error == EPERM) {
    why = "belongs to another user, or may not be looked into: only its owner and root can";
    return false;
  }
  if (status.find("\nState:\tZ") != std::string::npos || error == ESRCH) {
    why = "has ended";
    return false;
  }
  if (error != 0) {
    why = std::string("its memory map cannot be read: ") + std::strerror(error);
    return false;
  }
  if (evidence.maps.empty()) {
    why = "is a thread of the kernel: it has no memory of its own";
    return false;
  }
  evidence.pid = pid;
  evidence.command = command_of(kernel, pid);
  kernel.read(proc(pid, "numa_maps"), evidence.numa_maps);
  evidence.balancing = balancing_now(kernel);
  evidence.has_record = find_record(pid, evidence.maps, evidence.recorded);
  if (!evidence.has_record) mappings_as_arrays(pid, evidence.maps, least_size, evidence.recorded);
  evidence.running = true;
  evidence.means = !evidence.has_record                                      ? Means::none
                   : evidence.recorded.touching == weft::numa::Touching::off ? Means::kernel
                                                                             : Means::protection;
  if (evidence.means == Means::kernel) evidence.why_no_faults = "the weft numa that has started the process sees them";
  look(kernel, &evidence.recorded, evidence);
  return true;
}

}  // namespace weft::tools::numa
