// SPDX-License-Identifier: Apache-2.0
#include "numa/mappings.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <tuple>

namespace weft::tools::numa {

namespace {

// A line of numa_maps: the address, the policy, and words such as heap, file=/x, N0=12 and kernelpagesize_kB=4.
struct Line {
  uint64_t begin = 0;
  std::string policy;
  std::string kind = "anonymous";
  std::map<int, uint64_t> bytes;
};

bool parse(const std::string& text, Line& line) {
  std::istringstream words(text);
  std::string word;
  if (!(words >> word)) return false;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), line.begin, 16);
  if (fault != std::errc() || end != word.data() + word.size() || !(words >> line.policy)) return false;
  uint64_t page_kb = 4;
  std::map<int, uint64_t> pages;
  while (words >> word) {
    if (word == "heap") line.kind = "heap (brk)";
    if (word == "stack") line.kind = "stack of the first thread";
    if (word.starts_with("file=")) line.kind = word.substr(5);
    if (word.starts_with("kernelpagesize_kB=")) page_kb = std::strtoull(word.c_str() + 18, nullptr, 10);
    if (word.size() > 2 && word[0] == 'N' && word[1] >= '0' && word[1] <= '9') {
      char* rest = nullptr;
      const long node = std::strtol(word.c_str() + 1, &rest, 10);
      if (*rest == '=' && node < 1024) pages[static_cast<int>(node)] += std::strtoull(rest + 1, nullptr, 10);
    }
  }
  for (const auto& [node, count] : pages) line.bytes[node] += count * page_kb * 1024;
  return true;
}

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

std::vector<Range> ranges_of(const std::string& maps) {
  std::vector<Range> ranges;
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    Range range;
    const char* const end = line.data() + line.size();
    const auto [dash, fault] = std::from_chars(line.data(), end, range.begin, 16);
    if (fault != std::errc() || dash == end || *dash != '-') continue;
    if (std::from_chars(dash + 1, end, range.end, 16).ec == std::errc()) ranges.push_back(range);
  }
  return ranges;
}

bool holds_array(const Recorded& recorded, const std::vector<Range>& ranges, uint64_t begin) {
  const auto range = std::find_if(ranges.begin(), ranges.end(), [&](const Range& r) { return r.begin == begin; });
  const uint64_t end = range != ranges.end() ? range->end : begin + 1;
  return std::any_of(recorded.arrays.begin(), recorded.arrays.end(), [&](const RecordedArray& array) {
    return array.live && array.begin < end && array.begin + array.bytes > begin;
  });
}

std::string kind_of(const Line& line, const Evidence& evidence, const std::vector<Range>& ranges) {
  if (line.kind.starts_with("/dev/shm/") || line.kind.starts_with("/memfd:") || line.kind.starts_with("/SYSV")) {
    return "shared memory";
  }
  // Large blocks that glibc has cut from its heap lie there.
  if (line.kind == "anonymous" && holds_array(evidence.recorded, ranges, line.begin)) return "arrays";
  return line.kind;
}

}  // namespace

std::vector<MappingRow> mappings_of(const Evidence& evidence) {
  const std::vector<Range> ranges = ranges_of(evidence.maps);
  std::map<std::string, MappingRow> by_kind;
  std::istringstream lines(evidence.numa_maps);
  for (std::string text; std::getline(lines, text);) {
    Line line;
    if (!parse(text, line) || line.bytes.empty()) continue;
    const std::string kind = kind_of(line, evidence, ranges);
    MappingRow& row = by_kind[kind];
    row.kind = kind;
    for (const auto& [node, bytes] : line.bytes) {
      row.bytes[node] += bytes;
      row.sum += bytes;
    }
    if (row.policy.empty()) row.policy = line.policy;
    if (row.policy != line.policy) row.policy = "several";
  }
  std::vector<MappingRow> rows;
  for (auto& [kind, row] : by_kind) rows.push_back(std::move(row));
  std::sort(rows.begin(), rows.end(),
            [](const MappingRow& a, const MappingRow& b) { return std::tie(b.sum, a.kind) < std::tie(a.sum, b.kind); });
  return rows;
}

}  // namespace weft::tools::numa
