// SPDX-License-Identifier: Apache-2.0
#include "numa/kernel_touches.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <tuple>
#include <vector>

namespace weft::tools::numa {

namespace {

// When all pages were found that there were in the end.
int64_t filled_at(const History& history) {
  int64_t filled = 0;
  for (size_t i = 0; i < history.last.size(); ++i) {
    if (history.last[i] < 0) continue;
    if (i >= history.since.size() || history.since[i] == 0) return INT64_MAX;
    filled = std::max(filled, history.since[i]);
  }
  return filled > 0 ? filled : INT64_MAX;
}

}  // namespace

void add_touches(const std::vector<KernelTouch>& touches, const platform::NumaNodes& nodes, Evidence& evidence) {
  Recorded& recorded = evidence.recorded;
  const int64_t ended = recorded.ended != 0 ? recorded.ended : evidence.over != 0 ? evidence.over : INT64_MAX;
  std::vector<KernelTouch> own;
  std::copy_if(touches.begin(), touches.end(), std::back_inserter(own), [&](const KernelTouch& seen) {
    return seen.process == recorded.pid && seen.time >= recorded.began && seen.time <= ended;
  });
  // Operations that access no memory have no address, and those of older kernels never have one.
  evidence.samples += static_cast<uint64_t>(std::count_if(own.begin(), own.end(), [](const KernelTouch& seen) {
    return seen.source == Source::memory_sample && seen.address != 0;
  }));
  std::sort(own.begin(), own.end(), [](const KernelTouch& a, const KernelTouch& b) {
    return std::tie(a.address, a.time) < std::tie(b.address, b.time);
  });
  const auto at = [&](uint64_t address) {
    return std::lower_bound(own.begin(), own.end(), address,
                            [](const KernelTouch& seen, uint64_t wanted) { return seen.address < wanted; });
  };
  const uint64_t page = recorded.page_size;
  std::vector<KernelTouch> here;
  for (const RecordedArray& array : recorded.arrays) {
    // The pages at the edges hold other blocks too.
    const uint64_t begin = (array.begin + page - 1) / page * page;
    const uint64_t end = (array.begin + array.bytes) / page * page;
    if (begin >= end) continue;
    here.clear();
    std::copy_if(at(begin), at(end), std::back_inserter(here), [&](const KernelTouch& seen) {
      return seen.time >= array.born && (array.live || array.died == 0 || seen.time <= array.died);
    });
    std::sort(here.begin(), here.end(), [](const KernelTouch& a, const KernelTouch& b) { return a.time < b.time; });
    const auto history = evidence.history.find(array.number);
    const int64_t filled = history != evidence.history.end() ? filled_at(history->second) : INT64_MAX;
    // Of a page that is there the kernel has made the fault, to know who uses it.
    std::set<uint64_t> touched;
    std::vector<bool> first;
    int64_t initialised = 0;
    for (const KernelTouch& seen : here) {
      first.push_back(seen.source == Source::page_fault && seen.time < filled &&
                      touched.insert(seen.address / page).second);
      if (first.back()) initialised = seen.time;
    }
    for (size_t i = 0; i < here.size(); ++i) {
      const KernelTouch& seen = here[i];
      // There are very many while an array is initialised, and they say nothing of its use.
      if (seen.source == Source::memory_sample && seen.time <= initialised) continue;
      RecordedTouch touch;
      touch.time = seen.time;
      touch.array = array.number;
      touch.position = static_cast<double>(seen.address - array.begin) / static_cast<double>(array.bytes);
      touch.thread = seen.thread;
      touch.cpu = seen.cpu;
      touch.node = std::max(nodes.node_of_cpu(seen.cpu), 0);
      touch.site = array.site;
      touch.access = seen.access;
      touch.first = first[i];
      touch.code = seen.code;
      recorded.touches.push_back(touch);
    }
  }
  std::sort(recorded.touches.begin(), recorded.touches.end(),
            [](const RecordedTouch& a, const RecordedTouch& b) { return a.time < b.time; });
}

void forget_later_touches(Evidence& evidence) {
  std::erase_if(evidence.recorded.touches, [](const RecordedTouch& touch) { return !touch.first; });
}

std::string why_no_events(const Kernel& kernel, int error, bool hardware) {
  std::string text;
  // Of the samples of some CPUs the kernel's own cannot be left out, which a stricter setting demands.
  const int enough = hardware ? 1 : 2;
  if ((error == EACCES || error == EPERM || (hardware && error == EINVAL)) &&
      kernel.read("/proc/sys/kernel/perf_event_paranoid", text) == 0 && std::atoi(text.c_str()) > enough) {
    return "kernel.perf_event_paranoid is " + std::to_string(std::atoi(text.c_str())) + ", " + std::to_string(enough) +
           " allows it to all users";
  }
  if (error == EACCES || error == EPERM || error == ENOSYS) {
    return std::string("perf_event_open: ") + std::strerror(error) +
           "; a sandbox may forbid it, PERFMON allows it in "
           "containers";
  }
  return std::string("perf_event_open: ") + std::strerror(error);
}

}  // namespace weft::tools::numa
