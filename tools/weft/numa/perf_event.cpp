// SPDX-License-Identifier: Apache-2.0
#include "numa/perf_event.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string>

namespace weft::tools::numa {

namespace {

// Of each thread, in a second: where there are more the kernel takes one of several.
constexpr uint64_t kFaultsPerSecond = 4000;
constexpr uint64_t kSamplesPerSecond = 1000;

// Above the highest frequency the kernel refuses.
perf_event_attr sampled(const Kernel& kernel, uint64_t frequency) {
  perf_event_attr wanted{};
  std::string text;
  const bool known = kernel.read("/proc/sys/kernel/perf_event_max_sample_rate", text) == 0;
  const uint64_t most = known ? std::strtoull(text.c_str(), nullptr, 10) : frequency;
  wanted.freq = 1;
  wanted.sample_freq = std::clamp<uint64_t>(most, 1, frequency);
  wanted.sample_type = kSampleType;
  return wanted;
}

// A unit of the CPU that counts, as the kernel describes it.
class Unit {
 public:
  Unit(const Kernel& kernel, const std::string& name)
      : kernel_(kernel), folder_("/sys/bus/event_source/devices/" + name + "/") {}

  // The settings of one of its events, "event=0xcd,umask=0x1"; empty: it has none of that name.
  std::string event(const std::string& name) const { return read("events/" + name); }
  bool has_setting(const std::string& name) const { return !read("format/" + name).empty(); }

  // False: the kernel knows no such unit, or not all of these settings.
  bool encode(const std::string& settings, perf_event_attr& wanted) const {
    const std::string type = read("type");
    if (type.empty()) return false;
    wanted.type = static_cast<uint32_t>(std::strtoul(type.c_str(), nullptr, 10));
    std::istringstream terms(settings);
    for (std::string term; std::getline(terms, term, ',');) {
      const size_t equals = term.find('=');
      const uint64_t value = equals == std::string::npos ? 1 : std::strtoull(term.c_str() + equals + 1, nullptr, 0);
      if (!set_bits(read("format/" + term.substr(0, equals)), value, wanted)) return false;
    }
    return true;
  }

 private:
  std::string read(const std::string& name) const {
    std::string text;
    if (kernel_.read(folder_ + name, text) != 0) return {};
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  // `format`: "config1:0-15", or "config:0-7,32-35" for bits that do not stand together.
  static bool set_bits(const std::string& format, uint64_t value, perf_event_attr& wanted) {
    const size_t colon = format.find(':');
    const std::string word = format.substr(0, colon);
    __u64* const config = word == "config"    ? &wanted.config
                          : word == "config1" ? &wanted.config1
                          : word == "config2" ? &wanted.config2
                                              : nullptr;
    if (config == nullptr || colon == std::string::npos) return false;
    std::istringstream ranges(format.substr(colon + 1));
    constexpr unsigned kBits = 64;
    for (std::string range; std::getline(ranges, range, ',');) {
      unsigned low = 0;
      const char* const end = range.data() + range.size();
      const auto [dash, fault] = std::from_chars(range.data(), end, low);
      unsigned high = low;
      if (fault != std::errc() || (dash != end && std::from_chars(dash + 1, end, high).ec != std::errc())) return false;
      if (high < low || high >= kBits) return false;
      for (unsigned bit = low; bit <= high; ++bit, value >>= 1) *config |= (value & 1) << bit;
    }
    return true;
  }

  const Kernel& kernel_;
  const std::string folder_;
};

// Intel's: events that the kernel names, sampled with the address that they access (PEBS).
std::vector<PerfEvent> loads_and_stores(const Kernel& kernel) {
  const Unit unit(kernel, "cpu");
  std::vector<PerfEvent> events;
  for (const char* name : {"mem-loads", "mem-stores"}) {
    const std::string settings = unit.event(name);
    PerfEvent event{.source = Source::memory_sample, .attributes = sampled(kernel, kSamplesPerSecond), .leader = {}};
    // The instruction that accesses memory, and not one behind it.
    event.attributes.precise_ip = 2;
    if (settings.empty() || !unit.encode(settings, event.attributes)) continue;
    const std::string first = unit.event(std::string(name) + "-aux");
    perf_event_attr leader{};
    if (!first.empty() && unit.encode(first, leader)) event.leader = leader;
    events.push_back(event);
  }
  return events;
}

// AMD's: operations of all kinds, of which those that access memory have an address (IBS).
std::vector<PerfEvent> operations(const Kernel& kernel) {
  const Unit unit(kernel, "ibs_op");
  PerfEvent event{.source = Source::memory_sample, .attributes = sampled(kernel, kSamplesPerSecond), .leader = {}};
  std::string settings;
  // Operations are counted in place of cycles; those of the kernel can be left out.
  for (const char* name : {"cnt_ctl", "swfilt"}) {
    if (unit.has_setting(name)) settings += (settings.empty() ? "" : ",") + std::string(name);
  }
  if (!unit.encode(settings, event.attributes)) return {};
  return {event};
}

}  // namespace

std::vector<PerfEvent> page_faults(const Kernel& kernel) {
  PerfEvent event{.source = Source::page_fault, .attributes = sampled(kernel, kFaultsPerSecond), .leader = {}};
  event.attributes.type = PERF_TYPE_SOFTWARE;
  event.attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
  return {event};
}

std::vector<PerfEvent> memory_samples(const Kernel& kernel) {
  const std::vector<PerfEvent> events = loads_and_stores(kernel);
  return events.empty() ? operations(kernel) : events;
}

}  // namespace weft::tools::numa
