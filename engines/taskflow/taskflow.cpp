// SPDX-License-Identifier: Apache-2.0
// Loops as graphs of Taskflow, one task for each item. A worker that waits for a graph runs tasks of any other, so that
// a thread may have several pieces of a loop: there are no slots, and the items are members.
#include <taskflow/taskflow.hpp>

#include "weft/engine.h"

namespace {

// Never destroyed: loops run until the very end.
tf::Executor* g_executor = nullptr;

const char* start(int32_t cpus) {
  g_executor = new tf::Executor(static_cast<size_t>(cpus));
  return nullptr;
}

int32_t slots() { return 0; }

void run(weft_engine_loop* loop) {
  tf::Taskflow graph;
  for (uint64_t item = 0; item < loop->count; ++item) {
    graph.emplace([loop, item] { loop->piece(loop, 0, item, item + 1); });
  }
  if (g_executor->this_worker_id() >= 0) {
    g_executor->corun(graph);
  } else {
    g_executor->run(graph).wait();
  }
}

constexpr weft_engine kEngine{WEFT_ENGINE_VERSION, 0, start, slots, run};

}  // namespace

extern "C" [[gnu::visibility("default")]] const weft_engine* weft_engine_entry() { return &kEngine; }
