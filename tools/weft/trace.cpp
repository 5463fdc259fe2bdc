// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "child.h"
#include "executable.h"
#include "exit_codes.h"
#include "platform/file_name.h"
#include "platform/launcher.h"
#include "report/wording/numbers.h"

namespace weft::tools {

namespace {

namespace fs = std::filesystem;
using platform::with_numbers;

std::string absolute_of(const std::string& name) {
  std::error_code error;
  return fs::absolute(name, error);
}

// Why no trace can be written into a file of that name; empty: one can. A folder with the number of the process in its
// name is not known yet.
std::string why_not_possible(const std::string& wanted) {
  const std::string name = with_numbers(wanted, 0);
  const std::string folder = fs::path(wanted).parent_path();
  struct stat status{};
  const bool exists = stat(name.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return "is a directory; a file is wanted";
  if (exists && S_ISFIFO(status.st_mode)) return "is a named pipe, which waits for a reader; a file is wanted";
  if (folder.find("%p") != std::string::npos) return {};
  const std::string checked = exists ? name : folder.empty() ? "." : with_numbers(folder, 0);
  return access(checked.c_str(), W_OK) == 0 ? "" : platform::why_not_written(name, errno);
}

// Whether a process that the program has started has left a file of its own, by its number, since `began`.
bool has_left_others(const fs::path& wanted, fs::file_time_type began) {
  const std::string name = wanted.filename();
  const std::string begin = name.substr(0, name.find('%'));
  const std::string end = name.substr(std::min(name.rfind('%') + 2, name.size()));
  std::error_code error;
  const auto is_one = [&](const fs::directory_entry& entry) {
    const std::string other = entry.path().filename();
    std::error_code gone;
    return other.starts_with(begin) && other.ends_with(end) && entry.last_write_time(gone) >= began && !gone;
  };
  return std::any_of(fs::directory_iterator(wanted.parent_path(), error), fs::directory_iterator(), is_one);
}

// Whether it was written while the program ran, which is the last that the file says.
bool is_cut_off(const std::string& file) {
  constexpr std::streamoff kEnd = 64;
  std::ifstream in(file, std::ios::binary);
  in.seekg(0, std::ios::end);
  in.seekg(std::max<std::streamoff>(0, static_cast<std::streamoff>(in.tellg()) - kEnd));
  std::string end(kEnd, '\0');
  in.read(end.data(), kEnd);
  return end.find("\"cut_off\":true") != std::string::npos;
}

std::string how_it_ended(const Ending& ending) {
  if (ending.signal == 0) return "the program has ended by _exit, exec or MPI_Abort";
  return "signal " + std::to_string(ending.signal) + " (" + strsignal(ending.signal) + ") has ended the program";
}

// What became of the file, where it is not the whole trace.
void say_missing(const std::string& file, bool is_new, const Ending& ending, const std::string& path,
                 const std::string& name) {
  const std::string after = " after " + report::seconds_text(ending.seconds);
  if (is_new && is_cut_off(file)) {
    base::warn("trace: %s%s: %s has what had happened some time before", how_it_ended(ending).c_str(), after.c_str(),
               file.c_str());
  } else if (!is_new && ending.signal != 0) {
    base::warn(
        "trace: %s%s: it had called no OpenMP, or not for the half second after which the trace is written for "
        "the first time. %s was not written",
        how_it_ended(ending).c_str(), after.c_str(), file.c_str());
  } else if (!is_new) {
    base::warn("trace: %s was not written by %s: %s; or it has ended within half a second by _exit, exec or MPI_Abort",
               file.c_str(), name.c_str(), why_no_openmp(path).c_str());
  }
}

}  // namespace

TraceFile::Seen::Seen(const std::string& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) return;
  inode = status.st_ino;
  changed = int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec;
  is_plain = S_ISREG(status.st_mode);
}

// One of another process may be named by its number: its state is that of before.
TraceFile::TraceFile(const std::string& command, const std::string& option, const std::string& name)
    : wanted_(absolute_of(name)), before_(with_numbers(wanted_, 0)), began_(fs::file_time_type::clock::now()) {
  const std::string why = why_not_possible(name);
  good_ = why.empty();
  if (!good_) base::warn("%s: %s %s: %s", command.c_str(), option.c_str(), name.c_str(), why.c_str());
}

bool TraceFile::say_what_is_missing(const Ending& ending, const Program& program, const std::string& name) const {
  const std::string file = with_numbers(wanted_, ending.process);
  const Seen after(file);
  const bool has_number = file != with_numbers(wanted_, 0);
  const bool is_new = after.inode != 0 && (has_number || !(after == before_));
  // What a device got nobody knows; others may have left their own.
  if (!after.is_plain) return true;
  if (!is_new && wanted_.find("%p") != std::string::npos && has_left_others(wanted_, began_)) return true;
  if (program.complaint.empty()) say_missing(file, is_new, ending, program.path, name);
  return is_new;
}

int make_trace(const RunOptions& options) {
  const TraceFile trace("trace", "-o", options.trace);
  if (!trace.good()) return kFailed;
  Program program;
  if (const int fault = prepare(options, program); fault != 0) return fault;
  const Ending ending = run_child("trace", program.path, options.command, [] {});
  const bool has_trace = trace.say_what_is_missing(ending, program, options.command.front());
  // A launcher would end the job for one rank that has no parallel region.
  const bool is_rank = platform::rank_by_launcher() != nullptr;
  return has_trace || is_rank ? ending.exit_code : std::max(ending.exit_code, kFailed);
}

}  // namespace weft::tools
