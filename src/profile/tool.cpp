// SPDX-License-Identifier: Apache-2.0
// The recorder of `weft report` as a tool of OMPT: from the program's first call of OpenMP to its end.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "base/options.h"
#include "platform/cycles.h"
#include "platform/process.h"
#include "profile/events.h"
#include "profile/messages.h"
#include "profile/sampler.h"
#include "profile/scale.h"
#include "profile/slot.h"
#include "profile/writer.h"
#include "weft/omp-tools.h"

namespace weft::profile {

namespace {

pid_t g_process = 0;
std::string g_path;
std::string g_wanted;  // a file: who makes it wants to have what is known so far
Sampler* g_sampler = nullptr;

// When the process was started, by CLOCK_MONOTONIC.
int64_t began_at() noexcept {
  const int64_t now = platform::now_ns();
  const uint64_t start = platform::process_start(getpid());
  if (start == 0) return now;
  const long per_second = sysconf(_SC_CLK_TCK);
  const int64_t since_boot = static_cast<int64_t>(start) * (1'000'000'000 / per_second);
  const int64_t age = platform::clock_ns(CLOCK_BOOTTIME) - since_boot;
  return age > 0 ? now - age : now;
}

// In place at once: somebody may be waiting for it.
bool write_profile() {
  const double now = static_cast<double>(platform::clock_ns(CLOCK_REALTIME)) / 1e9;
  const double began = now - static_cast<double>(platform::now_ns() - g_sampler->began()) / 1e9;
  const std::string made = g_path + ".new";
  std::FILE* file = std::fopen(made.c_str(), "we");
  const bool written = file != nullptr && write(file, *g_sampler, began);
  const bool closed = file != nullptr && std::fclose(file) == 0;
  return written && closed && std::rename(made.c_str(), g_path.c_str()) == 0;
}

// Once, by the sampler: another rank has failed, and this process will be ended too (tools/weft/report/rank_folder.h).
void write_if_wanted() noexcept {
  static bool written = false;
  if (written || getpid() != g_process || access(g_wanted.c_str(), F_OK) != 0) return;
  written = true;
  try {
    g_sampler->sum_up();
    write_profile();
  } catch (const std::bad_alloc&) {
    // There may be more at the end.
  }
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  measure_ticks();
  if (!listen(lookup)) {
    base::warn("the program runs on another OpenMP runtime than weft, or an older weft: there is no report");
    return 0;
  }
  try {
    g_sampler = new Sampler(cpus(), began_at());
    if (g_sampler->start(write_if_wanted)) return 1;
  } catch (const std::bad_alloc&) {
  }
  base::warn("the system refuses memory or the thread that looks at the others (ulimit -u): there is no report");
  return 0;
}

void finalize(ompt_data_t*) {
  // The child of a fork has its parent's counts, and no sampler.
  if (getpid() != g_process) return;
  try {
    if (!g_sampler->stop()) {
      base::warn("the recorder of weft report has not come to its end, or has had no memory: there is no report");
    } else if (!write_profile()) {
      base::warn("the profile %s could not be written: %s", g_path.c_str(), std::strerror(errno));
    }
  } catch (const std::bad_alloc&) {
    base::warn("no memory for the report of weft report: there is none");
  }
}

ompt_start_tool_result_t g_result{initialize, finalize, {}};

}  // namespace

}  // namespace weft::profile

extern "C" [[gnu::visibility("default")]] void weft_trace_call(const weft::base::TracedCall& call) {
  weft::profile::note(call);
}

extern "C" [[gnu::visibility("default")]] void weft_trace_wait(const char* name, const void* caller) {
  using weft::profile::t_slot;
  if (t_slot != nullptr) t_slot->begin_wait(name, caller);
}

extern "C" [[gnu::visibility("default")]] void weft_trace_waited() {
  using weft::profile::t_slot;
  if (t_slot != nullptr) t_slot->end_wait();
}

extern "C" [[gnu::visibility("default")]] void weft_trace_rank(int rank, int ranks, int64_t) {
  weft::profile::set_ranks({rank, ranks});
}

extern "C" ompt_start_tool_result_t* ompt_start_tool(unsigned, const char*) {
  const char* folder = weft::base::options().profile_folder.value;
  if (folder == nullptr) return nullptr;
  weft::profile::g_process = getpid();
  weft::profile::g_path = std::string(folder) + "/" + std::to_string(getpid()) + ".json";
  weft::profile::g_wanted = std::string(folder) + "/wanted";
  return &weft::profile::g_result;
}
