// SPDX-License-Identifier: Apache-2.0
#include "study/report.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <dlfcn.h>

namespace weft::scale {

namespace {

using machine::kMicrosecond;
using machine::Site;
using machine::Time;
using nlohmann::json;

constexpr size_t kMostSites = 40;
constexpr size_t kMostLines = 12;

double us(Time time) { return static_cast<double>(time) / static_cast<double>(kMicrosecond); }

// Whether a frame that has been inlined says nothing of weft: the library's atomics.
bool is_of_library(const std::string& function, const std::string& where) {
  return function.starts_with("std::") || function.find(" std::") != std::string::npos ||
         where.starts_with("atomic_base.h");
}

std::string short_name(std::string function, std::string where) {
  function.erase(std::min(function.find_first_of("(\n"), function.size()));
  where.erase(std::min(where.find_first_of(" \n"), where.size()));
  constexpr std::string_view kPrefix = "weft::";
  for (size_t at = function.find(kPrefix); at != std::string::npos; at = function.find(kPrefix))
    function.erase(at, kPrefix.size());
  return where + " " + function;
}

// "file:line function" of places in the program, by binutils' addr2line: the innermost frame that is weft's.
std::map<const void*, std::string> names_of(const std::vector<const void*>& places) {
  std::map<const void*, std::string> names;
  std::map<std::string, std::vector<std::pair<const void*, uintptr_t>>> by_file;
  for (const void* place : places) {
    Dl_info info{};
    if (dladdr(place, &info) == 0) continue;
    // The call returns behind the access.
    const uintptr_t offset = reinterpret_cast<uintptr_t>(place) - 1 - reinterpret_cast<uintptr_t>(info.dli_fbase);
    by_file[info.dli_fname].emplace_back(place, offset);
  }
  for (const auto& [file, offsets] : by_file) {
    // -a: an address before the frames of each.
    std::string command = "addr2line -a -i -s -C -f -e '" + file + "'";
    char text[1024];
    for (const auto& [place, offset] : offsets) {
      std::snprintf(text, sizeof text, " 0x%lx", static_cast<unsigned long>(offset));
      command += text;
    }
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) continue;
    size_t index = SIZE_MAX;
    while (std::fgets(text, sizeof text, pipe) != nullptr) {
      if (std::string_view(text).starts_with("0x")) {
        ++index;
        continue;
      }
      const std::string function = text;
      if (std::fgets(text, sizeof text, pipe) == nullptr || index >= offsets.size()) break;
      std::string& name = names[offsets[index].first];
      if (name.empty() && !is_of_library(function, text)) name = short_name(function, text);
    }
    pclose(pipe);
  }
  return names;
}

}  // namespace

json report(const machine::Machine& machine, const Construct& construct, int threads, const Outcome& outcome) {
  const auto repetitions = static_cast<double>(std::max<size_t>(1, outcome.times.size()));
  std::vector<Time> sorted = outcome.times;
  std::sort(sorted.begin(), sorted.end());
  json result = {{"machine", machine.model().name()},
                 {"construct", construct.name},
                 {"what", construct.what},
                 {"cpus", machine.cpus()},
                 {"threads", threads},
                 {"repetitions", outcome.times.size()},
                 {"us", us(sorted[sorted.size() / 2])},
                 {"us_least", us(sorted.front())},
                 {"us_most", us(sorted.back())}};
  const machine::Counts counts = machine.counts();
  const auto each = [&](uint64_t count) { return static_cast<double>(count) / repetitions; };
  result["each"] = {{"wakes", each(counts.wakes)},
                    {"wakes_by_first_thread", each(counts.wakes_by_first)},
                    {"futex_waits", each(counts.futex_waits)},
                    {"system_calls", each(counts.system_calls)},
                    {"yields", each(counts.yields)},
                    {"threads_created", each(counts.threads_created)},
                    {"transfers", each(machine.memory().transfers())}};
  for (const Measure& measure : outcome.measures) result["measures"][measure.name] = measure.value;

  std::vector<std::pair<const void*, Site>> sites(machine.memory().sites().begin(), machine.memory().sites().end());
  std::sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) { return a.second.waited > b.second.waited; });
  if (sites.size() > kMostSites) sites.resize(kMostSites);
  const std::vector<const machine::Line*> lines = machine.memory().busiest(kMostLines);
  std::vector<const void*> places;
  for (const auto& [place, site] : sites) places.push_back(place);
  for (const machine::Line* line : lines) places.push_back(line->last_place);
  std::map<const void*, std::string> names = names_of(places);
  result["sites"] = json::array();
  result["lines"] = json::array();
  for (const auto& [place, site] : sites) {
    result["sites"].push_back({{"place", names[place]},
                               {"waited_us", us(site.waited) / repetitions},
                               {"transfers", each(site.transfers)},
                               {"false_transfers", each(site.false_transfers)},
                               {"updates", each(site.updates)}});
  }
  for (const machine::Line* line : lines) {
    result["lines"].push_back({{"last_used_by", names[line->last_place]},
                               {"updates", each(line->updates)},
                               {"transfers", each(line->transfers)}});
  }
  return result;
}

void print(const json& report) {
  std::printf("%s, %d threads: %.2f us (%.2f to %.2f)\n", report["construct"].get<std::string>().c_str(),
              report["threads"].get<int>(), report["us"].get<double>(), report["us_least"].get<double>(),
              report["us_most"].get<double>());
  for (const auto& [name, value] : report["each"].items())
    std::printf("  %-24s %10.1f\n", name.c_str(), value.get<double>());
  if (report.contains("measures")) {
    for (const auto& [name, value] : report["measures"].items())
      std::printf("  %s: %.3f\n", name.c_str(), value.get<double>());
  }
  std::printf("  waited us  transfers  false  updates  by\n");
  for (const json& site : report["sites"]) {
    std::printf("  %9.2f  %9.1f  %5.1f  %7.1f  %s\n", site["waited_us"].get<double>(), site["transfers"].get<double>(),
                site["false_transfers"].get<double>(), site["updates"].get<double>(),
                site["place"].get<std::string>().c_str());
  }
  std::printf("  lines with most updates:\n");
  for (const json& line : report["lines"]) {
    std::printf("  %7.1f updates  %7.1f transfers  last %s\n", line["updates"].get<double>(),
                line["transfers"].get<double>(), line["last_used_by"].get<std::string>().c_str());
  }
}

}  // namespace weft::scale
