// SPDX-License-Identifier: Apache-2.0
// The sink of `weft trace`: at the end of the program its records become a file.
#include "observe/record/trace/sink.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "base/options.h"
#include "observe/record/process/others.h"
#include "observe/record/trace/events.h"
#include "observe/record/trace/so_far.h"
#include "observe/record/trace/writer.h"
#include "platform/cycles.h"
#include "platform/futex_lock.h"
#include "platform/launcher.h"

namespace weft::observe::trace {

namespace {

platform::FutexLock g_lock;  // of what follows
Process g_traced;
pid_t g_process = 0;
std::string g_path;
std::string g_path_so_far;  // until it is whole
std::optional<observe::Others> g_others;

// %p stands for the number of the process.
void replace_all(std::string& text, const char* what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, 2, by);
}

std::string path_of(const char* wanted) {
  std::string path = wanted;
  replace_all(path, "%p", std::to_string(getpid()));
  const char* rank = platform::rank_by_launcher();
  replace_all(path, "%r", rank != nullptr ? rank : "0");
  return path;
}

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

// In place at once, so that there is a whole file whenever the program dies. What is no plain file is written once, at
// the end; so are traces for which more than some 200 MB of memory would be taken while the program needs it.
void write_so_far() noexcept {
  constexpr size_t kMostRecords = 2'000'000;
  size_t records = 0;
  for (const Log* log = logs(); log != nullptr; log = log->next) records += log->count();
  if (records > kMostRecords) return;
  struct stat old{};
  if (getpid() != g_process || (lstat(g_path.c_str(), &old) == 0 && !S_ISREG(old.st_mode))) return;
  std::FILE* file = std::fopen(g_path_so_far.c_str(), "we");
  if (file == nullptr) return;
  const bool written = write_to(file, true);
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed || std::rename(g_path_so_far.c_str(), g_path.c_str()) != 0) unlink(g_path_so_far.c_str());
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

void finish() {
  // A thread that is still at it puts its file in the place of this one.
  if (!stop_writing_so_far()) base::warn("the trace %s may end early", g_path.c_str());
  std::FILE* file = std::fopen(g_path.c_str(), "we");
  const bool written = file != nullptr && write_to(file, false);
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed) base::warn("the trace %s could not be written: %s", g_path.c_str(), std::strerror(errno));
}

const Sink kSink = {kTraceEvents, prepare, start, finish};

}  // namespace

const Sink* trace_sink() {
  const char* wanted = base::options().trace_file.value;
  if (wanted == nullptr) return nullptr;
  g_process = getpid();
  g_path = path_of(wanted);
  g_path_so_far = g_path + "." + std::to_string(getpid()) + ".new";
  return &kSink;
}

void set_rank(int rank, int ranks, int64_t together) noexcept {
  const std::lock_guard guard(g_lock);
  g_traced.rank = rank;
  g_traced.ranks = ranks;
  g_traced.together = together;
}

}  // namespace weft::observe::trace
