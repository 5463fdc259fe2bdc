// SPDX-License-Identifier: Apache-2.0
#include "top/record_start.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <vector>

#include "core/monitor/layout.h"
#include "openmp/record/layout.h"
#include "proc_file.h"
#include "top/process_memory.h"
#include "top/record_copy.h"

namespace weft::tools {

namespace {

constexpr size_t kMostData = 4 * 1024 * 1024;  // of the library's variables

// The process's number in its own namespace.
int64_t own_number_of(pid_t process) {
  std::string status;
  int64_t number = process;
  if (!read_proc_file(process, "status", status)) return number;
  const size_t line = status.find("\nNSpid:");
  if (line == std::string::npos) return number;
  const size_t end = std::min(status.find('\n', line + 1), status.size());
  const size_t space = status.find_last_of(" \t", end);
  std::from_chars(status.data() + space + 1, status.data() + end, number);
  return number;
}

}  // namespace

RecordState RecordStart::look(const MappedRuntime& mapped) {
  // A runtime of this version has it from the beginning on.
  if (is_nowhere_) return RecordState::other_version;
  if (address_ == 0) return find(mapped);
  const MemoryPart whole[] = {part(address_, start_)};
  const MemoryRead read = read_memory(process_, whole);
  if (read == MemoryRead::forbidden) return RecordState::forbidden;
  return read == MemoryRead::whole ? judge(start_) : RecordState::missing;
}

RecordState RecordStart::find(const MappedRuntime& mapped) {
  if (own_number_ == 0) own_number_ = own_number_of(process_);
  RecordState state = RecordState::other_version;
  for (const AddressRange& range : mapped.data) {
    std::vector<char> data(std::min<size_t>(range.end - range.begin, kMostData));
    const MemoryPart whole[] = {{range.begin, data.data(), data.size()}};
    const MemoryRead read = read_memory(process_, whole);
    if (read == MemoryRead::forbidden) return RecordState::forbidden;
    if (read == MemoryRead::missing) return RecordState::missing;
    for (size_t at = 0; at + sizeof start_ <= data.size(); at += alignof(core::InspectionStart)) {
      core::InspectionStart start;
      std::memcpy(static_cast<void*>(&start), data.data() + at, sizeof start);
      if (start.magic != core::InspectionStart::kMagic) continue;
      start_ = start;
      address_ = range.begin + at;
      state = judge(start);
      if (state == RecordState::known) return state;
    }
  }
  is_nowhere_ = address_ == 0;
  return state;
}

RecordState RecordStart::judge(const core::InspectionStart& start) const {
  if (start.magic != core::InspectionStart::kMagic) return RecordState::missing;
  if (start.layout == 0) return RecordState::not_yet;
  if (start.layout != (core::kCoreLayout ^ openmp::kOpenmpLayout)) return RecordState::other_version;
  return start.process == own_number_ ? RecordState::known : RecordState::not_yet;
}

}  // namespace weft::tools
