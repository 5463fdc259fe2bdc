// SPDX-License-Identifier: Apache-2.0
// GOMP: parallel regions that are combined with a worksharing loop.
#include <new>

#include "base/message.h"
#include "openmp/gomp/loop.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::gomp;
using Kind = base::LoopSchedule::Kind;

namespace {

// A region whose members find the loop begun.
struct Combined {
  Function function;
  void* data;
  base::LoopSchedule schedule;
  uint64_t chunk, first, step, count;
  Combined* outer = nullptr;
};

void run_combined(void* const* words, int) noexcept {
  const auto* loop = static_cast<const Combined*>(words[1]);
  begin(self(), loop->schedule, loop->chunk, loop->first, loop->step, loop->count);
  loop->function(loop->data);
}

Combined combine(Function function, void* data, Kind kind, bool runtime, long first, long end, long incr, long chunk) {
  Combined loop{function,
                data,
                {},
                static_cast<uint64_t>(chunk),
                static_cast<uint64_t>(first),
                static_cast<uint64_t>(incr),
                count_of(first, end, incr)};
  loop.schedule = chosen(self(), kind, runtime, &loop.chunk);
  return loop;
}

[[gnu::always_inline]] inline void run(Combined loop, unsigned threads, unsigned flags) {
  const auto region = [threads, flags, record = &loop](const void*) {
    void* words[core::Post::kWords] = {nullptr, record};
    parallel(run_combined, words, clauses(threads, flags));
  };
  tool::enter_region(region, static_cast<int>(threads));
}

// gcc 4.8 and older: the region ends in GOMP_parallel_end, up to when the record must live. One a member
// and depth at most; kept, since such binaries are rare and the records small.
[[gnu::always_inline]] inline void run_open(const Combined& loop, unsigned threads) {
  const tool::Entry entry(WEFT_CALLER, static_cast<int>(threads));
  auto* kept = new (std::nothrow) Combined(loop);
  if (kept == nullptr) base::lacking("no memory for a parallel loop");
  void* words[core::Post::kWords] = {nullptr, kept};
  begin_parallel(run_combined, words, clauses(threads));
  begin(self(), kept->schedule, kept->chunk, kept->first, kept->step, kept->count);
}

}  // namespace

#define WEFT_PARALLEL_LOOP(name, kind)                                                                             \
  WEFT_ABI(void, GOMP_parallel_loop_##name)(Function function, void* data, unsigned threads, long first, long end, \
                                            long incr, long chunk, unsigned flags) {                               \
    run(combine(function, data, kind, false, first, end, incr, chunk), threads, flags);                            \
  }

#define WEFT_PARALLEL_LOOP_START(name, kind)                                                                     \
  WEFT_ABI(void, GOMP_parallel_loop_##name##_start)(Function function, void* data, unsigned threads, long first, \
                                                    long end, long incr, long chunk) {                           \
    run_open(combine(function, data, kind, false, first, end, incr, chunk), threads);                            \
  }

#define WEFT_PARALLEL_RUNTIME_LOOP(name)                                                                           \
  WEFT_ABI(void, GOMP_parallel_loop_##name)(Function function, void* data, unsigned threads, long first, long end, \
                                            long incr, unsigned flags) {                                           \
    run(combine(function, data, Kind::dynamic, true, first, end, incr, 0), threads, flags);                        \
  }

WEFT_PARALLEL_LOOP(static, Kind::static_);
WEFT_PARALLEL_LOOP(dynamic, Kind::dynamic);
WEFT_PARALLEL_LOOP(guided, Kind::guided);
WEFT_PARALLEL_LOOP(nonmonotonic_dynamic, Kind::dynamic);
WEFT_PARALLEL_LOOP(nonmonotonic_guided, Kind::guided);
WEFT_PARALLEL_RUNTIME_LOOP(runtime);
WEFT_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime);
WEFT_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime);

WEFT_PARALLEL_LOOP_START(static, Kind::static_);
WEFT_PARALLEL_LOOP_START(dynamic, Kind::dynamic);
WEFT_PARALLEL_LOOP_START(guided, Kind::guided);

WEFT_ABI(void, GOMP_parallel_loop_runtime_start)(Function function, void* data, unsigned threads, long first, long end,
                                                 long incr) {
  run_open(combine(function, data, Kind::dynamic, true, first, end, incr, 0), threads);
}
