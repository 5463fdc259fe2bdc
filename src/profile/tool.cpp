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
#include "profile/events.h"
#include "profile/messages.h"
#include "profile/process.h"
#include "profile/sampler.h"
#include "profile/scale.h"
#include "profile/writer.h"
#include "weft/omp-tools.h"

namespace weft::profile {

namespace {

pid_t g_process = 0;
std::string g_path;
Sampler* g_sampler = nullptr;

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  measure_ticks();
  if (!listen(lookup)) {
    base::warn("the program runs on another OpenMP runtime than weft, or an older weft: there is no report");
    return 0;
  }
  try {
    g_sampler = new Sampler(cpus(), process_began());
    if (g_sampler->start()) return 1;
  } catch (const std::bad_alloc&) {
  }
  base::warn("the system refuses memory or the thread that looks at the others (ulimit -u): there is no report");
  return 0;
}

bool write_profile() {
  const double now = static_cast<double>(platform::clock_ns(CLOCK_REALTIME)) / 1e9;
  const double began = now - static_cast<double>(platform::now_ns() - g_sampler->began()) / 1e9;
  std::FILE* file = std::fopen(g_path.c_str(), "we");
  const bool written = file != nullptr && write(file, *g_sampler, began);
  const bool closed = file != nullptr && std::fclose(file) == 0;
  return written && closed;
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

extern "C" [[gnu::visibility("default")]] void weft_trace_rank(int rank, int ranks, int64_t) {
  weft::profile::set_ranks({rank, ranks});
}

extern "C" ompt_start_tool_result_t* ompt_start_tool(unsigned, const char*) {
  const char* folder = weft::base::options().profile_folder.value;
  if (folder == nullptr) return nullptr;
  weft::profile::g_process = getpid();
  weft::profile::g_path = std::string(folder) + "/" + std::to_string(getpid()) + ".json";
  return &weft::profile::g_result;
}
