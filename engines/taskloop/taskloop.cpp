// SPDX-License-Identifier: Apache-2.0
// Loops as OpenMP taskloops of the machine's own runtime. Without a chunk size it decides how many tasks there are.
#include "host/host.h"
#include "weft/engine.h"

namespace {

using weft::engines::g_host;

// gcc's gomp-constants.h: the loop counts up; tasks may be deferred.
constexpr unsigned kUp = 1u << 8;
constexpr unsigned kIf = 1u << 10;

// The runtime writes a task's bounds into the first two words of its copy.
struct Task {
  unsigned long long begin;
  unsigned long long end;
  weft_engine_loop* loop;
};

void run_task(void* data) {
  const Task task = *static_cast<const Task*>(data);
  task.loop->piece(task.loop, g_host.number(), task.begin, task.end);
}

void generate(void* data) {
  auto* loop = static_cast<weft_engine_loop*>(data);
  // So many tasks that none has more iterations than the chunk; a `grainsize` would be the least they have.
  const uint64_t tasks = loop->chunk != 0 ? (loop->count - 1) / loop->chunk + 1 : 0;
  Task pattern{0, 0, loop};
  g_host.taskloop(run_task, &pattern, nullptr, sizeof pattern, alignof(Task), kUp | kIf, tasks, 0, 0, loop->count, 1);
}

void run(weft_engine_loop* loop) { weft::engines::in_team(generate, loop); }

constexpr weft_engine kEngine{WEFT_ENGINE_VERSION, 0, weft::engines::start_host, weft::engines::host_slots, run};

}  // namespace

extern "C" [[gnu::visibility("default")]] const weft_engine* weft_engine_entry() { return &kEngine; }
