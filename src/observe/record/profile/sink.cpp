// SPDX-License-Identifier: Apache-2.0
// The sink of `weft report`: it records from the program's first call of OpenMP to its end; or, where it is loaded
// paused, from each weft_profile_begin() to the next weft_profile_write() (calls.h).
#include "observe/record/profile/sink.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include <pthread.h>
#include <unistd.h>

#include "base/message.h"
#include "base/options.h"
#include "observe/record/process/process.h"
#include "observe/record/profile/calls.h"
#include "observe/record/profile/context_record.h"
#include "observe/record/profile/events.h"
#include "observe/record/profile/recording.h"
#include "observe/record/profile/scale.h"
#include "observe/record/profile/writer.h"
#include "platform/cycles.h"
#include "platform/futex_lock.h"

namespace weft::observe {

namespace {

pid_t g_process = 0;
std::string g_folder;  // empty: paused at the start
constexpr char kSoFar[] = ".so-far";  // of the process's file while it runs; the command reads it if there is no other
std::string g_wanted;  // a file: a process that makes it wants to have what is known so far

platform::FutexLock g_lock;  // of what follows
bool g_listens = false;  // between the tool's initializer and its finalizer
bool g_runs = false;
// A recording that has ended stays until the next one begins: its sampler's last step is to wake, by address, the
// thread that waits for it.
Recording* g_recording = nullptr;

// Null, or what is wrong.
const char* start(std::unique_ptr<Recording> recording, Recording::LookAround look_around = nullptr) {
  if (!recording->start(look_around)) return "the system refuses the thread that looks at the others (ulimit -u)";
  g_recording = recording.release();
  g_runs = true;
  count_sampler(true);
  return nullptr;
}

const char* stop() noexcept {
  g_runs = false;
  count_sampler(false);
  if (g_recording->stop()) return nullptr;
  // Its thread may still look at it.
  g_recording = nullptr;
  return "the recorder has not come to its end, or has had no memory";
}

// The child of a fork has its parent's counts, and no sampler.
void forget_parents() noexcept {
  if (is_recording()) next_recording();
}

// In place at once: somebody may be waiting for it.
bool write_profile(Recording& recording, const std::string& folder, const char* title,
                   const char* extension = ".json") {
  const std::string path = folder + "/" + std::to_string(g_process) + extension;
  const std::string made = path + ".new";
  std::FILE* file = std::fopen(made.c_str(), "we");
  const bool written = file != nullptr && write(file, recording, title);
  const bool closed = file != nullptr && std::fclose(file) == 0;
  return written && closed && std::rename(made.c_str(), path.c_str()) == 0;
}

// Called by the sampler, some times a second. It writes at once where another rank has failed, and this process will be
// ended too (tools/weft/report/ranks/rank_folder.h). Else now and then, for a program that is killed, or ends past the
// finalizer: it writes ever more seldom, so that this takes a hundredth of the sampler's time at most.
void write_so_far(Recording& recording) noexcept {
  constexpr int64_t kLeastPause = 1'000'000'000;
  constexpr int64_t kPartOfRun = 8;
  constexpr int64_t kPartOfTime = 100;
  static bool asked = false;
  static int64_t next = 0;
  if (getpid() != g_process) return;
  const int64_t begin = platform::now_ns();
  const bool is_wanted = !asked && access(g_wanted.c_str(), F_OK) == 0;
  if (!is_wanted && begin < next) return;
  asked = asked || is_wanted;
  try {
    recording.interrupt([&] { write_profile(recording, g_folder, nullptr, is_wanted ? ".json" : kSoFar); });
  } catch (const std::bad_alloc&) {
    // There may be more at the end.
  }
  const int64_t end = platform::now_ns();
  next = end + std::max({kLeastPause, (end - recording.sampler().began()) / kPartOfRun, kPartOfTime * (end - begin)});
}

void prepare(const RuntimeCalls& runtime) {
  measure_ticks();
  measure_chunk();
  prepare_events(runtime);
}

bool start_sink() {
  const std::lock_guard guard(g_lock);
  g_nodes.child(0, Kind::serial, nullptr);  // whatever is met first, this is the first node
  pthread_atfork(nullptr, nullptr, forget_parents);
  const char* fault = nullptr;
  try {
    if (!g_folder.empty()) fault = start(std::make_unique<Recording>(cpus(), process_began()), write_so_far);
  } catch (const std::bad_alloc&) {
    fault = "the system refuses memory";
  }
  if (fault != nullptr) base::warn("%s: there is no report", fault);
  g_listens = fault == nullptr;
  return g_listens;
}

void finish() {
  const std::lock_guard guard(g_lock);
  g_listens = false;
  if (!g_runs) return;
  const char* fault = stop();
  if (g_folder.empty()) return;
  try {
    if (fault != nullptr) {
      base::warn("%s: there is no report", fault);
    } else if (!write_profile(*g_recording, g_folder, nullptr)) {
      base::warn("the profile could not be written into %s: %s", g_folder.c_str(), std::strerror(errno));
    }
  } catch (const std::bad_alloc&) {
    base::warn("no memory for the report of weft report: there is none");
  }
}

const Sink kSink = {kProfileEvents, prepare, start_sink, finish};

// ---- calls.h ----

char g_answer[512];  // under the lock

// Why the caller cannot begin or end a recording; null: it can. The lock is held.
const char* fault_of_call(bool wants_recording) noexcept {
  if (!g_listens) return "the recorder has not been started in this process, or has come to its end";
  if (!g_folder.empty()) return "weft report records the whole of this process already";
  if (wants_recording && !g_runs) return "nothing is being recorded";
  if (!wants_recording && g_runs) return "a recording runs already";
  return nullptr;
}

// `call` under the lock, in the process that the recorder is in.
template <class Call>
const char* answer(bool wants_recording, const Call& call) noexcept {
  // Before the lock: a thread that held it at a fork is not here.
  if (getpid() != g_process) return "the recorder is in the parent of this process";
  const std::lock_guard guard(g_lock);
  if (const char* fault = fault_of_call(wants_recording)) return fault;
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return "the system refuses memory";
  }
}

const char* begin_recording() {
  delete std::exchange(g_recording, nullptr);
  return start(std::make_unique<Recording>(cpus()));
}

const char* write_recording(const char* folder, const char* title) {
  if (const char* fault = stop()) return fault;
  if (write_profile(*g_recording, folder, title)) return nullptr;
  const int error = errno;
  std::snprintf(g_answer, sizeof g_answer, "%.300s: the profile cannot be written: %s", folder, std::strerror(error));
  return g_answer;
}

}  // namespace

const Sink* profile_sink() {
  const base::Options& options = base::options();
  const char* folder = options.profile_folder.value;
  // Its children have the setting too, and are not meant.
  if (folder == nullptr && options.profile_paused != getpid()) return nullptr;
  g_process = getpid();
  if (folder != nullptr) {
    g_folder = folder;
    g_wanted = g_folder + "/wanted";
  }
  return &kSink;
}

bool is_paused() noexcept { return g_folder.empty(); }

}  // namespace weft::observe

#define WEFT_EXPORT extern "C" [[gnu::visibility("default")]]

WEFT_EXPORT const char* weft_profile_begin() { return weft::observe::answer(false, weft::observe::begin_recording); }

WEFT_EXPORT const char* weft_profile_write(const char* folder, const char* title) {
  return weft::observe::answer(true, [=] { return weft::observe::write_recording(folder, title); });
}

WEFT_EXPORT const char* weft_profile_cancel() { return weft::observe::answer(true, weft::observe::stop); }
