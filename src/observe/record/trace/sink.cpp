// SPDX-License-Identifier: Apache-2.0
// The sink of `weft trace`: at the end of the program its records become a file.
#include "observe/record/trace/sink.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "base/options.h"
#include "observe/format/trace_files.h"
#include "observe/record/process/others.h"
#include "observe/record/trace/events.h"
#include "observe/record/trace/so_far.h"
#include "observe/record/trace/writer.h"
#include "platform/cycles.h"
#include "platform/file_name.h"
#include "platform/futex_lock.h"

namespace weft::observe::trace {

namespace {

platform::FutexLock g_lock;  // of what follows
Process g_traced;
pid_t g_process = 0;
std::string g_path;
std::string g_waiting_file;  // of the command that has started this process, if one has
std::optional<observe::Others> g_others;

// All that is known by now. Without memory for it there is none; the program goes on.
bool write_to(std::FILE* file, bool is_cut_off) noexcept {
  Process traced;
  {
    const std::lock_guard guard(g_lock);
    traced = g_traced;
  }
  traced.cpu = platform::cpu_time_ns();
  traced.others_cpu = g_others->used_of(traced.cpus * (now() - traced.began));
  try {
    return write(file, logs(), traced, now(), is_cut_off);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return false;
  }
}

bool write_and_close(std::FILE* file, bool is_cut_off) noexcept {
  if (file == nullptr) return false;
  const bool is_written = write_to(file, is_cut_off);
  const int error = errno;
  if (std::fclose(file) != 0) return false;
  errno = error;
  return is_written;
}

enum class Replaced { yes, failed, impossible };

Replaced replace_by_new(bool is_cut_off) {
  const std::string place = platform::place_to_replace(g_path);
  if (place.empty()) return Replaced::impossible;
  const std::string made = observe::unfinished_trace(place, g_process, is_cut_off);
  // Others may guess the name: what they have put there is neither written nor followed.
  std::FILE* file = std::fopen(made.c_str(), "wxe");
  if (file == nullptr) return errno == ENOSPC || errno == EDQUOT ? Replaced::failed : Replaced::impossible;
  struct stat old{};
  if (stat(place.c_str(), &old) == 0 && !platform::take_owner_and_rights(fileno(file), old)) {
    std::fclose(file);
    unlink(made.c_str());
    return Replaced::impossible;
  }
  const bool is_whole = write_and_close(file, is_cut_off);
  if (is_whole && std::rename(made.c_str(), place.c_str()) == 0) return Replaced::yes;
  const int error = errno;
  unlink(made.c_str());
  errno = error;
  return is_whole ? Replaced::impossible : Replaced::failed;
}

// Puts a new file in the place of the old one when it is complete, so that there is a whole file whenever the program
// dies, and an older one stays where there is no room for the new one. Not possible of what is no plain file.
Replaced replace(bool is_cut_off) noexcept {
  try {
    return replace_by_new(is_cut_off);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return Replaced::failed;
  }
}

// What cannot be replaced is written once, at the end; so are traces for which more than some 200 MB of memory would be
// taken while the program needs it.
void write_so_far() noexcept {
  constexpr size_t kMostRecords = 2'000'000;
  size_t records = 0;
  for (const Log* log = logs(); log != nullptr; log = log->next) records += log->count();
  if (records <= kMostRecords && getpid() == g_process) replace(true);
}

void prepare(const RuntimeCalls& runtime) {
  prepare_events(runtime);
  g_traced.cpus = runtime.cpus;
  g_traced.runtime = reinterpret_cast<const void*>(runtime.carrier);
  g_traced.began = now();
  g_traced.cpu_before = platform::cpu_time_ns();
  g_others.emplace();
}

bool start() {
  start_writing_so_far(write_so_far);
  return true;
}

// That there is no trace, and that this has been said. What others have put there in place of the command's file stays
// as it is.
void tell_command() {
  const int file = open(g_waiting_file.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct stat status{};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid()) fchmod(file, 0);
  close(file);
}

void finish() {
  // A thread that is still at it puts its file in the place of this one.
  if (!stop_writing_so_far()) base::warn("the trace %s may end early", g_path.c_str());
  const Replaced replaced = replace(false);
  if (replaced == Replaced::yes) return;
  if (replaced == Replaced::impossible && write_and_close(std::fopen(g_path.c_str(), "we"), false)) return;
  base::warn("the trace %s could not be written: %s", g_path.c_str(), platform::why_not_written(g_path, errno).c_str());
  tell_command();
}

const Sink kSink = {kTraceEvents, prepare, start, finish};

}  // namespace

const Sink* trace_sink() {
  const char* wanted = base::options().trace_file.value;
  if (wanted == nullptr) return nullptr;
  g_process = getpid();
  g_path = platform::with_numbers(wanted, g_process);
  g_waiting_file = observe::waiting_file(platform::with_numbers(wanted, 0), getppid());
  return &kSink;
}

void set_rank(int rank, int ranks, int64_t together) noexcept {
  const std::lock_guard guard(g_lock);
  g_traced.rank = rank;
  g_traced.ranks = ranks;
  g_traced.together = together;
}

}  // namespace weft::observe::trace
