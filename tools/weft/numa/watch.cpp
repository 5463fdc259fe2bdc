// SPDX-License-Identifier: Apache-2.0
#include "numa/watch.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "platform/cycles.h"

namespace weft::tools::numa {

namespace {

std::string proc(int pid, const std::string& name) { return "/proc/" + std::to_string(pid) + "/" + name; }

// What stands behind `name` on its line.
std::string field(const std::string& text, const std::string& name) {
  const size_t at = ("\n" + text).find("\n" + name);
  if (at == std::string::npos) return {};
  const size_t begin = text.find_first_not_of(" \t", at + name.size());
  const size_t end = text.find('\n', at);
  if (begin == std::string::npos || begin >= std::min(end, text.size())) return {};
  return text.substr(begin, end == std::string::npos ? end : end - begin);
}

int64_t counter(const std::string& text, const std::string& name) {
  return std::strtoll(field(text, name + " ").c_str(), nullptr, 10);
}

// The node of all these CPUs; -1: there are several, or one is not known.
int common_node(const platform::NumaNodes& nodes, const platform::CpuSet& cpus) {
  int common = -1;
  for (const int cpu : platform::each(cpus)) {
    const int node = nodes.node_of_cpu(cpu);
    if (node < 0 || (common >= 0 && node != common)) return -1;
    common = node;
  }
  return common;
}

// The CPU that a thread ran on last: the 39th field, the second of which may hold anything.
int last_cpu(const std::string& stat) {
  const size_t end = stat.rfind(')');
  if (end == std::string::npos) return -1;
  std::istringstream fields(stat.substr(end + 1));
  std::string field;
  constexpr int kBehindTheName = 37;
  for (int i = 0; i < kBehindTheName; ++i) {
    if (!(fields >> field)) return -1;
  }
  return std::atoi(field.c_str());
}

void look_at_places(const Kernel& kernel, const Recorded& recorded, Evidence& evidence) {
  for (const RecordedArray& array : recorded.arrays) {
    if (!array.live) continue;
    const uint64_t pages = (array.bytes + recorded.page_size - 1) / recorded.page_size;
    const uint32_t count = weft::numa::places_of(pages);
    std::vector<uint64_t> addresses;
    for (uint32_t i = 0; i < count; ++i) {
      addresses.push_back(array.begin / recorded.page_size * recorded.page_size +
                          weft::numa::place_of(i, count, pages) * recorded.page_size);
    }
    std::vector<int> found;
    const int error = kernel.query_pages(recorded.pid, addresses, found);
    if (error != 0) {
      evidence.query_error = error;
      return;
    }
    evidence.query_error = 0;
    add_look(evidence.history[array.number], found, platform::now_ns());
  }
}

}  // namespace

void add_look(History& history, const std::vector<int>& found, int64_t now) {
  const size_t count = found.size();
  if (history.first.size() != count) {
    history = {std::vector<int>(count, -1), std::vector<int>(count, -1), std::vector<bool>(count, false),
               std::vector<int64_t>(count, 0), 0};
  }
  history.since.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (found[i] < 0) continue;
    if (history.first[i] < 0) history.first[i] = found[i];
    if (history.last[i] >= 0 && history.last[i] != found[i]) history.moved[i] = true;
    history.last[i] = found[i];
    if (history.since[i] == 0) history.since[i] = now;
  }
  ++history.looks;
}

Balancing balancing_now(const Kernel& kernel) {
  Balancing now;
  std::string text;
  if (kernel.read("/proc/vmstat", text) == 0 && text.find("numa_pages_migrated") != std::string::npos) {
    now.known = true;
    now.migrated = counter(text, "numa_pages_migrated");
    now.hint_faults = counter(text, "numa_hint_faults");
  }
  now.enabled = kernel.read("/proc/sys/kernel/numa_balancing", text) == 0 && std::atoi(text.c_str()) != 0;
  return now;
}

Balancing since(const Balancing& before, const Balancing& now) {
  return {before.known && now.known, now.enabled, now.migrated - before.migrated, now.hint_faults - before.hint_faults};
}

bool has_peers(const Kernel& kernel, int pid) {
  const std::vector<std::string> files = kernel.files_of(pid);
  static constexpr const char* kReaching[] = {"anon_inode:[io_uring]", "/dev/infiniband/", "/dev/nvidia-uvm",
                                              "/dev/kfd"};
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    return std::any_of(std::begin(kReaching), std::end(kReaching),
                       [&](const char* known) { return file.rfind(known, 0) == 0; });
  });
}

std::string allowed_nodes(const Kernel& kernel, const std::string& process) {
  std::string status;
  return kernel.read("/proc/" + process + "/status", status) == 0 ? field(status, "Mems_allowed_list:") : std::string();
}

std::vector<Thread> threads_of(const Kernel& kernel, int pid, int except) {
  std::vector<Thread> threads;
  for (const int number : kernel.numbers_in(proc(pid, "task"))) {
    if (number == except) continue;
    const std::string folder = "task/" + std::to_string(number) + "/";
    std::string status;
    std::string stat;
    if (kernel.read(proc(pid, folder + "status"), status) != 0) continue;
    if (kernel.read(proc(pid, folder + "stat"), stat) != 0) continue;
    Thread thread;
    thread.number = number;
    thread.name = field(status, "Name:");
    thread.cpus = field(status, "Cpus_allowed_list:");
    thread.node = common_node(kernel.nodes(), platform::parse_cpu_list(thread.cpus.c_str()));
    thread.last_cpu = last_cpu(stat);
    threads.push_back(thread);
  }
  std::sort(threads.begin(), threads.end(), [](const Thread& a, const Thread& b) { return a.number < b.number; });
  return threads;
}

void look(const Kernel& kernel, const Recorded* recorded, Evidence& evidence) {
  std::vector<Thread> threads = threads_of(kernel, evidence.pid, recorded != nullptr ? recorded->sampler : 0);
  if (threads.size() >= evidence.threads.size()) evidence.threads = std::move(threads);
  const std::string nodes = allowed_nodes(kernel, std::to_string(evidence.pid));
  if (!nodes.empty()) evidence.allowed_nodes = nodes;
  if (recorded != nullptr) look_at_places(kernel, *recorded, evidence);
}

}  // namespace weft::tools::numa
