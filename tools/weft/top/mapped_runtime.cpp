// SPDX-License-Identifier: Apache-2.0
#include "top/mapped_runtime.h"

#include <charconv>
#include <string>

#include "proc_file.h"

namespace weft::tools {

namespace {

// In weft's own folder of libraries. Another runtime may lie anywhere below a folder of that name.
bool is_runtime(std::string_view line) {
  return line.find("/weft/libgomp.so") != std::string_view::npos ||
         line.find("/weft/tsan/libgomp.so") != std::string_view::npos;
}

// "7f12a000-7f12b000 rw-p ..."
bool parse_written(std::string_view line, AddressRange& range) {
  const char* const end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, range.begin, 16);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return false;
  const auto second = std::from_chars(first.ptr + 1, end, range.end, 16);
  const std::string_view rest(second.ptr, static_cast<size_t>(end - second.ptr));
  return second.ec == std::errc() && rest.starts_with(" rw") && range.begin < range.end;
}

}  // namespace

MappedRuntime runtime_in(std::string_view maps) {
  MappedRuntime found;
  // Few lines have the name, so it is looked for first.
  for (size_t at = maps.find("/libgomp.so"); at != std::string_view::npos; at = maps.find("/libgomp.so", at)) {
    const size_t newline = maps.rfind('\n', at);
    const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    const size_t end = std::min(maps.find('\n', at), maps.size());
    const std::string_view line = maps.substr(begin, end - begin);
    at = end;
    if (!is_runtime(line)) continue;
    found.is_there = true;
    AddressRange range;
    if (parse_written(line, range)) found.data.push_back(range);
  }
  return found;
}

MappedRuntime mapped_runtime(pid_t process) {
  thread_local std::string maps;
  return read_proc_file(process, "maps", maps) ? runtime_in(maps) : MappedRuntime();
}

}  // namespace weft::tools
