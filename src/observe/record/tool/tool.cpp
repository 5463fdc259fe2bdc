// SPDX-License-Identifier: Apache-2.0
// The recorder as a tool of OMPT. It takes the sinks that the environment asks for when the program starts. The runtime
// calls the functions of the one sink itself, or those of both.h.
#include <optional>

#include <unistd.h>

#include "base/message.h"
#include "base/traced_call.h"
#include "observe/record/profile/context_record.h"
#include "observe/record/profile/messages.h"
#include "observe/record/profile/sink.h"
#include "observe/record/tool/both.h"
#include "observe/record/trace/events.h"
#include "observe/record/trace/sink.h"

namespace weft::observe {

namespace {

pid_t g_process = 0;
// Null: it is not asked for, or could not start.
const Sink* g_profile = nullptr;
const Sink* g_trace = nullptr;

bool has_both() noexcept { return g_profile != nullptr && g_trace != nullptr; }

const Events& events() noexcept {
  if (has_both()) return kEventsOfBoth;
  return g_profile != nullptr ? g_profile->events : g_trace->events;
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const std::optional<RuntimeCalls> runtime = runtime_calls(lookup);
  if (runtime && g_profile != nullptr) g_profile->prepare(*runtime);
  if (runtime && g_trace != nullptr) g_trace->prepare(has_both() ? calls_for_trace(*runtime) : *runtime);
  if (!runtime || !listen(lookup, events())) {
    base::warn("the program runs on another OpenMP runtime than weft, or an older weft: there is no %s",
               has_both()             ? "report, and no trace"
               : g_profile != nullptr ? "report"
                                      : "trace");
    return 0;
  }
  // One that does not start leaves the events as they are: the other one needs them.
  for (const Sink** sink : {&g_profile, &g_trace}) {
    if (*sink != nullptr && !(*sink)->start()) *sink = nullptr;
  }
  return g_profile != nullptr || g_trace != nullptr ? 1 : 0;
}

void finalize(ompt_data_t*) {
  // The child of a fork has what its parent has recorded: that is the parent's to write.
  if (getpid() != g_process) return;
  for (const Sink* sink : {g_profile, g_trace}) {
    if (sink != nullptr) sink->finish();
  }
}

ompt_start_tool_result_t g_result{initialize, finalize, {}};

}  // namespace

}  // namespace weft::observe

#define WEFT_EXPORT extern "C" [[gnu::visibility("default")]]

WEFT_EXPORT void weft_trace_call(const weft::base::TracedCall& call) {
  using namespace weft::observe;
  if (g_profile != nullptr) note(call);
  if (g_trace != nullptr) trace::note(call);
}

WEFT_EXPORT void weft_trace_rank(int rank, int ranks, int64_t together) {
  using namespace weft::observe;
  if (g_profile != nullptr) set_ranks({rank, ranks});
  if (g_trace != nullptr) trace::set_rank(rank, ranks, together);
}

WEFT_EXPORT void weft_trace_wait(const char* name, const void* caller) {
  using weft::observe::t_record;
  if (t_record != nullptr) t_record->begin_wait(name, caller);
}

WEFT_EXPORT void weft_trace_waited() {
  using weft::observe::t_record;
  if (t_record != nullptr) t_record->end_wait();
}

extern "C" ompt_start_tool_result_t* ompt_start_tool(unsigned, const char*) {
  using namespace weft::observe;
  g_process = getpid();
  g_profile = profile_sink();
  // A recorder that waits to be called is that of a notebook, whatever else its parents were asked for.
  if (g_profile == nullptr || !is_paused()) g_trace = trace::trace_sink();
  return g_profile != nullptr || g_trace != nullptr ? &g_result : nullptr;
}
