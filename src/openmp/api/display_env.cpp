// SPDX-License-Identifier: Apache-2.0
#include "openmp/api/display_env.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include <unistd.h>

#include "base/options.h"
#include "openmp/affinity/affinity.h"
#include "openmp/affinity/affinity_format.h"
#include "openmp/api/thread_ids.h"
#include "openmp/settings/icv.h"
#include "openmp/settings/startup.h"

namespace weft::openmp {

namespace {

// The whole listing, written by one call so that those of several processes do not mix.
class Listing {
 public:
  [[gnu::format(printf, 2, 3)]] void line(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    const int added = std::vsnprintf(text_.data() + size_, text_.size() - size_, format, arguments);
    va_end(arguments);
    if (added > 0) size_ = std::min(size_ + static_cast<size_t>(added), text_.size() - 2);
    text_[size_++] = '\n';
  }
  void setting(const char* name, const char* value) noexcept { line("  [host] %s = '%s'", name, value); }
  void setting(const char* name, long value) noexcept { line("  [host] %s = '%ld'", name, value); }
  void setting(const char* name, bool value) noexcept { setting(name, value ? "TRUE" : "FALSE"); }

  void write_out() const noexcept {
    if (write(STDERR_FILENO, text_.data(), size_) < 0) return;
  }

 private:
  std::array<char, 16384> text_{};
  size_t size_ = 0;
};

const char* or_empty(const base::Text& text) noexcept { return text.value != nullptr ? text.value : ""; }

void threads(Listing& out, const base::ThreadList& list) noexcept {
  std::array<char, 256> text{};
  size_t size = 0;
  if (list.count == 0)
    size += static_cast<size_t>(std::snprintf(text.data(), text.size(), "%d", initial_icvs().nthreads));
  for (int i = 0; i < list.count; ++i) {
    const char* comma = i > 0 ? "," : "";
    size += static_cast<size_t>(std::snprintf(text.data() + size, text.size() - size, "%s%d", comma, list.values[i]));
  }
  out.setting("OMP_NUM_THREADS", text.data());
}

void schedule(Listing& out, const base::LoopSchedule& wanted) noexcept {
  static constexpr const char* kNames[] = {"STATIC", "DYNAMIC", "GUIDED", "AUTO"};
  std::array<char, 64> text{};
  const char* modifier = wanted.monotonic ? "MONOTONIC:" : "";
  const char* kind = kNames[static_cast<size_t>(wanted.kind)];
  if (wanted.chunk > 0) {
    std::snprintf(text.data(), text.size(), "%s%s,%d", modifier, kind, wanted.chunk);
  } else {
    std::snprintf(text.data(), text.size(), "%s%s", modifier, kind);
  }
  out.setting("OMP_SCHEDULE", text.data());
}

void reserve(Listing& out, const base::ThreadsReserve& wanted) noexcept {
  std::array<char, 64> text{};
  if (wanted.structured == base::ThreadsReserve::kAll) {
    std::snprintf(text.data(), text.size(), "STRUCTURED");
  } else if (wanted.free_agent == base::ThreadsReserve::kAll) {
    std::snprintf(text.data(), text.size(), "FREE_AGENT");
  } else {
    std::snprintf(text.data(), text.size(), "STRUCTURED(%d),FREE_AGENT(%d)", wanted.structured, wanted.free_agent);
  }
  out.setting("OMP_THREADS_RESERVE", text.data());
}

void grain(Listing& out, const base::Grain& wanted) noexcept {
  std::array<char, 32> text{};
  if (wanted.iterations > 0) std::snprintf(text.data(), text.size(), "%" PRId64, wanted.iterations);
  if (wanted.ns > 0) std::snprintf(text.data(), text.size(), "%" PRId64 "us", wanted.ns / 1000);
  out.setting("WEFT_GRAIN", text.data());  // empty: by the loop
}

void places(Listing& out, const PlaceList& list) noexcept {
  std::array<char, 8192> text;
  format_places(list, text.data(), text.size());
  out.setting("OMP_PLACES", text.data());
}

void policies(Listing& out, const base::BindList& list) noexcept {
  static constexpr const char* kNames[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};
  std::array<char, 8 * base::BindList::kMost> text{};
  size_t size = 0;
  if (list.count == 0) return out.setting("OMP_PROC_BIND", kNames[0]);
  for (int i = 0; i < list.count; ++i) {
    size += static_cast<size_t>(std::snprintf(text.data() + size, text.size() - size, "%s%s", i > 0 ? "," : "",
                                              kNames[static_cast<size_t>(list.values[i])]));
  }
  out.setting("OMP_PROC_BIND", text.data());
}

void affinity_format(Listing& out) noexcept {
  std::array<char, kMostAffinityFormat + 1> text;
  get_affinity_format(text.data(), text.size());
  out.setting("OMP_AFFINITY_FORMAT", text.data());
}

const char* name_of(base::WaitPolicy policy) noexcept {
  switch (policy) {
    case base::WaitPolicy::active: return "ACTIVE";
    case base::WaitPolicy::passive: return "PASSIVE";
    case base::WaitPolicy::unset: break;
  }
  return "";  // between the two
}

const char* name_of(base::TriState state) noexcept {
  switch (state) {
    case base::TriState::yes: return "TRUE";
    case base::TriState::no: return "FALSE";
    case base::TriState::unset: break;
  }
  return "";  // by the library
}

const char* name_of(base::TargetOffload offload) noexcept {
  switch (offload) {
    case base::TargetOffload::mandatory: return "MANDATORY";
    case base::TargetOffload::disabled: return "DISABLED";
    case base::TargetOffload::unset: break;
  }
  return "DEFAULT";
}

}  // namespace

void display_env(bool verbose) noexcept {
  const base::Options& options = base::options();
  const Icvs& icvs = initial_icvs();
  const core::Settings settings = pool_settings();
  Listing out;
  out.line("OPENMP DISPLAY ENVIRONMENT BEGIN");
  out.line("  _OPENMP = '%d'", kOpenmpVersion);
  affinity_format(out);
  out.setting("OMP_ALLOCATOR", or_empty(options.allocator));
  out.setting("OMP_CANCELLATION", options.cancellation);
  out.setting("OMP_DEFAULT_DEVICE", long{icvs.default_device});
  out.setting("OMP_DISPLAY_AFFINITY", options.display_affinity);
  out.setting("OMP_DYNAMIC", options.dynamic);
  out.setting("OMP_MAX_ACTIVE_LEVELS", long{icvs.max_active_levels});
  out.setting("OMP_MAX_TASK_PRIORITY", long{options.max_task_priority});
  out.setting("OMP_NESTED", icvs.max_active_levels > 1);
  out.setting("OMP_NUM_TEAMS", long{options.num_teams});
  threads(out, options.num_threads);
  places(out, affinity().places);
  policies(out, affinity().policies);
  schedule(out, options.run_schedule);
  out.setting("OMP_STACKSIZE", static_cast<long>(settings.stack_size));
  out.setting("OMP_TARGET_OFFLOAD", name_of(options.target_offload));
  out.setting("OMP_TEAMS_THREAD_LIMIT", long{options.teams_thread_limit});
  out.setting("OMP_THREAD_LIMIT", long{options.thread_limit});
  reserve(out, options.threads_reserve);
  out.setting("OMP_TOOL", options.tool == base::ToolUse::enabled ? "ENABLED" : "DISABLED");
  out.setting("OMP_TOOL_LIBRARIES", or_empty(options.tool_libraries));
  out.setting("OMP_TOOL_VERBOSE_INIT", or_empty(options.tool_verbose_init));
  out.setting("OMP_WAIT_POLICY", name_of(options.wait_policy));
  if (verbose) {
    out.setting("WEFT_NUM_CPUS", long{settings.slots});
    out.setting("WEFT_SPIN_US", settings.spin_ns / 1000);
    out.setting("WEFT_NESTED_LIBRARIES", options.nested_libraries);
    out.setting("WEFT_INSPECT", options.inspect);
    out.setting("WEFT_NESTED_REGIONS", long{options.nested_regions});
    out.setting("WEFT_ADOPT_LIBRARIES", options.adopt_libraries);
    out.setting("WEFT_SPIN_WAITS", name_of(options.spin_waits));
    out.setting("WEFT_REPRODUCIBLE", name_of(options.reproducible));
    out.setting("WEFT_ALPI_CPUS", long{thread_id_count(settings.slots)});
    out.setting("WEFT_PARKED_THREADS", static_cast<long>(core::kept_threads(settings)));
    out.setting("WEFT_MPI_SILENCE", long{options.mpi_silence});
    out.setting("WEFT_MPI_SIGNAL", options.mpi_signal);
    out.setting("WEFT_REGION_THREADS", long{options.region_threads});
    out.setting("WEFT_BALANCE", base::name_of(options.balance));
    grain(out, options.grain);
    out.setting("WEFT_NUMA", base::name_of(options.numa));
    out.setting("WEFT_ENGINE", or_empty(options.engine));
    out.setting("WEFT_MODE", base::name_of(options.mode));
    out.setting("WEFT_NODE", options.node);
    out.setting("WEFT_WEIGHT", long{options.weight});
    out.setting("WEFT_JOBSERVER", options.jobserver);
    out.setting("WEFT_STATS", name_of(options.stats));
  }
  out.line("OPENMP DISPLAY ENVIRONMENT END");
  out.write_out();
}

}  // namespace weft::openmp
