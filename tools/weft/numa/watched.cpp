// SPDX-License-Identifier: Apache-2.0
#include "numa/watched.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include <signal.h>

#include "numa/running.h"
#include "numa/watch.h"
#include "platform/cycles.h"

namespace weft::tools::numa {

namespace fs = std::filesystem;

namespace {

// "4711.123456": the process, and when it began.
bool is_record(const std::string& name, int& pid) {
  const char* const end = name.data() + name.size();
  const auto [dot, fault] = std::from_chars(name.data(), end, pid);
  if (fault != std::errc() || dot == end || *dot != '.') return false;
  return std::all_of(dot + 1, end, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

template <class Visit>
void each_record(const fs::path& folder, Visit&& visit) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    int pid = 0;
    if (is_record(entry.path().filename(), pid)) visit(entry.path(), pid);
  }
}

void read_if_there(const Kernel& kernel, const std::string& file, std::string& into) {
  std::string text;
  if (kernel.read(file, text) == 0 && !text.empty()) into = std::move(text);
}

// By the times in their names.
bool began_before(const fs::path& one, const fs::path& other) {
  const auto time = [](const fs::path& file) { return std::strtoll(file.extension().c_str() + 1, nullptr, 10); };
  return time(one) < time(other);
}

bool is_there(int pid) { return kill(pid, 0) == 0 || errno == EPERM; }

}  // namespace

Watched::Watched(const Kernel& kernel, fs::path folder, std::string command)
    : kernel_(kernel), folder_(std::move(folder)), command_(std::move(command)), balancing_(balancing_now(kernel)) {}

void Watched::look() {
  each_record(folder_, [&](const fs::path& file, int pid) {
    if (over_.count(file.filename()) == 0) look_at(file, pid);
  });
}

// A program that starts many others leaves many records: those of programs that have ended, or have no arrays, are not
// read again, or not as a whole.
void Watched::look_at(const fs::path& file, int pid) {
  Recorded recorded;
  const bool good = read_record(file, recorded, Depth::header) && recorded.pid == pid;
  if ((good && recorded.ended != 0) || !is_there(pid)) {
    if (good) drop_if_empty(file, recorded);
    over_.insert(file.filename());
    return;
  }
  if (!good) return;
  Evidence& evidence = of_file_[file.filename()];
  evidence.pid = pid;
  std::string maps;
  read_if_there(kernel_, "/proc/" + std::to_string(pid) + "/maps", maps);
  // Another program by now (exec), whose name and memory are not those of this record.
  if (!maps.empty() && maps.find("/" + file.filename().string()) == std::string::npos) {
    evidence.over = platform::now_ns();
    over_.insert(file.filename());
    return;
  }
  const std::string command = command_of(kernel_, pid);
  if (!command.empty()) evidence.command = command;
  if (recorded.allocated == 0 || !read_record(file, recorded, Depth::arrays)) return;
  if (recorded.touching != weft::numa::Touching::off && has_peers(kernel_, pid)) note_peers(file);
  numa::look(kernel_, &recorded, evidence);
  if (!maps.empty()) evidence.maps = std::move(maps);
}

// A program that has ended by _exit() or a signal leaves a record without arrays behind. That of the program which was
// started is kept, to have something to report.
void Watched::drop_if_empty(const fs::path& file, const Recorded& recorded) const {
  if (recorded.allocated > 0 || recorded.lost > 0 || recorded.full) return;
  bool is_first = true;
  each_record(folder_, [&](const fs::path& other, int) { is_first = is_first && !began_before(other, file); });
  std::error_code error;
  if (!is_first) fs::remove(file, error);
}

std::vector<Evidence> Watched::finish() {
  std::vector<Evidence> all;
  const Balancing balancing = since(balancing_, balancing_now(kernel_));
  each_record(folder_, [&](const fs::path& file, int pid) {
    Evidence& evidence = of_file_[file.filename()];
    if (!read_record(file, evidence.recorded)) {
      ++without_room_;
      return;
    }
    if (evidence.recorded.full) ++without_room_;
    if (evidence.allowed_nodes.empty()) evidence.allowed_nodes = allowed_nodes(kernel_, "self");
    evidence.pid = pid;
    evidence.has_record = true;
    evidence.balancing = balancing;
    const Recorded& recorded = evidence.recorded;
    if (recorded.ended != 0) evidence.seconds = static_cast<double>(recorded.ended - recorded.began) * 1e-9;
    read_if_there(kernel_, file.string() + ".maps", evidence.maps);
    read_if_there(kernel_, file.string() + ".numa_maps", evidence.numa_maps);
    all.push_back(std::move(evidence));
  });
  std::sort(all.begin(), all.end(),
            [](const Evidence& a, const Evidence& b) { return a.recorded.began < b.recorded.began; });
  // A process that has become another program does not say so.
  for (size_t i = 0; i < all.size(); ++i) {
    const auto next = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(),
                                   [&](const Evidence& later) { return later.pid == all[i].pid; });
    if (next != all.end()) all[i].over = next->recorded.began;
  }
  // It may have ended before anybody could look.
  if (!all.empty() && all.front().command.empty()) all.front().command = command_;
  // What a process was before it became another program, and helpers, matter only with arrays of their own.
  const auto has_arrays = [](const Evidence& evidence) { return !evidence.recorded.arrays.empty(); };
  if (std::any_of(all.begin(), all.end(), has_arrays)) {
    std::erase_if(all, [&](const Evidence& evidence) { return !has_arrays(evidence); });
  } else if (all.size() > 1) {
    all.resize(1);
  }
  return all;
}

}  // namespace weft::tools::numa
