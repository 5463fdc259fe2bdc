// SPDX-License-Identifier: Apache-2.0
// Loops as oneTBB's parallel_for. Without a chunk size its partitioner decides how large pieces are.
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "weft/engine.h"

namespace {

using Range = tbb::blocked_range<uint64_t>;

// Of as many threads as weft would have, whichever thread begins a loop. Never destroyed: loops run until the very end.
tbb::task_arena* g_arena = nullptr;

// Whether the thread is in a piece.
thread_local bool t_inside = false;

const char* start(int32_t cpus) {
  // WEFT_NUM_CPUS may say more than oneTBB would use.
  new tbb::global_control(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(cpus));
  g_arena = new tbb::task_arena(cpus);
  g_arena->initialize();
  return nullptr;
}

int32_t slots() { return g_arena->max_concurrency(); }

void run_piece(weft_engine_loop* loop, const Range& range) {
  const bool before = t_inside;
  t_inside = true;
  loop->piece(loop, tbb::this_task_arena::current_thread_index(), range.begin(), range.end());
  t_inside = before;
}

void divide(weft_engine_loop* loop) {
  const auto body = [loop](const Range& range) { run_piece(loop, range); };
  if (loop->chunk != 0) {
    tbb::parallel_for(Range(0, loop->count, loop->chunk), body, tbb::simple_partitioner());
  } else {
    tbb::parallel_for(Range(0, loop->count), body);
  }
}

void run(weft_engine_loop* loop) {
  g_arena->execute([loop] {
    // A thread that waits for a loop inside a piece must not begin another piece of the loop around it: that one has
    // the thread's index already. Outside of pieces a thread that waits may run whatever there is.
    if (t_inside) {
      tbb::this_task_arena::isolate([loop] { divide(loop); });
    } else {
      divide(loop);
    }
  });
}

constexpr weft_engine kEngine{WEFT_ENGINE_VERSION, 0, start, slots, run};

}  // namespace

extern "C" [[gnu::visibility("default")]] const weft_engine* weft_engine_entry() { return &kEngine; }
