// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "child.h"
#include "executable.h"
#include "exit_codes.h"
#include "observe/format/trace_files.h"
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
  const std::string name = with_numbers(wanted, getpid());
  struct stat status{};
  const bool exists = stat(name.c_str(), &status) == 0;
  // A name that is too long, or a plain file in the place of a folder.
  if (!exists && errno != ENOENT) return platform::why_not_written(name, errno);
  if (exists && S_ISDIR(status.st_mode)) return "is a directory; a file is wanted";
  if (exists && S_ISFIFO(status.st_mode)) return "is a named pipe, which waits for a reader; a file is wanted";
  if (fs::path(wanted).parent_path().native().find("%p") != std::string::npos) return {};
  const std::string place = exists ? name : platform::place_to_replace(name);
  const std::string folder = fs::path(place).parent_path();
  const std::string checked = exists ? name : folder.empty() ? "." : folder;
  return access(checked.c_str(), W_OK) == 0 ? "" : platform::why_not_written(place, errno);
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

// What a process has left of its trace.
struct Left {
  bool is_new = false;         // the file is, or has become another one
  bool is_refused = false;     // the process could not write the file, and has said so
  bool is_unfinished = false;  // it has died while it wrote
};

// What became of the file, where it is not the whole trace.
void say_missing(const std::string& file, Left left, const Ending& ending, const std::string& path,
                 const std::string& name) {
  const std::string after = " after " + report::seconds_text(ending.seconds);
  const std::string how = left.is_refused ? "the whole of it could not be written" : how_it_ended(ending);
  if (left.is_new && is_cut_off(file)) {
    base::warn("trace: %s%s: %s has what had happened some time before", how.c_str(), after.c_str(), file.c_str());
  } else if (left.is_new || left.is_refused) {
    return;
  } else if (left.is_unfinished) {
    base::warn("trace: %s%s, while %s was written; there is no trace", how.c_str(), after.c_str(), file.c_str());
  } else if (ending.signal != 0) {
    base::warn(
        "trace: %s%s: it had called no OpenMP, or not for the half second after which the trace is written for "
        "the first time. %s was not written",
        how.c_str(), after.c_str(), file.c_str());
  } else {
    base::warn("trace: %s was not written by %s: %s; or it has ended within half a second by _exit, exec or MPI_Abort",
               file.c_str(), name.c_str(), why_no_openmp(path).c_str());
  }
}

// Whether the process has left a file that it has not completed. A link, or what else others have put there, is none.
bool remove_unfinished(const std::string& file, int process) {
  const std::string place = platform::place_to_replace(file);
  if (place.empty()) return false;
  bool had_begun = false;
  for (const bool is_cut_off : {true, false}) {
    const std::string made = observe::unfinished_trace(place, process, is_cut_off);
    struct stat status{};
    if (lstat(made.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (unlink(made.c_str()) == 0) had_begun = true;
  }
  return had_begun;
}

// The name of the file; empty: none could be made.
std::string make_waiting_file(const std::string& trace) {
  const std::string name = observe::waiting_file(trace, getpid());
  const int made = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (made < 0) return {};
  close(made);
  return name;
}

// Whether the process for which that file is has refused. A file that is gone says nothing, since programs remove
// files, unless it has gone with its folder, where no trace can be then.
bool has_refused(const std::string& waiting) {
  struct stat status{};
  if (waiting.empty()) return false;
  if (stat(waiting.c_str(), &status) == 0) return (status.st_mode & ACCESSPERMS) == 0;
  return access(fs::path(waiting).parent_path().c_str(), F_OK) != 0;
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
  if (good_) waiting_ = make_waiting_file(with_numbers(wanted_, 0));
}

TraceFile::~TraceFile() {
  if (!waiting_.empty()) unlink(waiting_.c_str());
}

bool TraceFile::say_what_is_missing(const Ending& ending, const Program& program, const std::string& name) const {
  const std::string file = with_numbers(wanted_, ending.process);
  const Seen after(file);
  const bool has_number = file != with_numbers(wanted_, 0);
  const Left left = {
      .is_new = after.inode != 0 && (has_number || !(after == before_)),
      .is_refused = has_refused(waiting_),
      .is_unfinished = remove_unfinished(file, ending.process),
  };
  // What a device got the program alone knows; others may have left their own.
  if (!after.is_plain) return !left.is_refused || platform::rank_by_launcher() != nullptr;
  if (!left.is_new && wanted_.find("%p") != std::string::npos && has_left_others(wanted_, began_)) return true;
  if (program.complaint.empty()) say_missing(file, left, ending, program.path, name);
  // A launcher would end the job for one rank that has no parallel region.
  return (left.is_new && !left.is_refused) || platform::rank_by_launcher() != nullptr;
}

int make_trace(const RunOptions& options) {
  const TraceFile trace("trace", "-o", options.trace);
  if (!trace.good()) return kFailed;
  Program program;
  if (const int fault = prepare(options, program); fault != 0) return fault;
  const Ending ending = run_child("trace", program.path, options.command, [] {});
  const bool has_trace = trace.say_what_is_missing(ending, program, options.command.front());
  return has_trace ? ending.exit_code : std::max(ending.exit_code, kFailed);
}

}  // namespace weft::tools
